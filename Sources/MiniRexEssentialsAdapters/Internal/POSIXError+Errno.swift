package import CLibrary

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension POSIXError {
  /// Why the last call into the system has failed.
  package static var last: POSIXError { POSIXError(errno: errno) }

  /// - Parameter code: What the system says; `EIO` stands for what Foundation has no name for.
  package init(errno code: Int32) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO)
  }

  package init(errno code: Int32, path: String) {
    self.init(POSIXError(errno: code).code, path: path)
  }

  package init(_ code: POSIXErrorCode, path: String) {
    #if canImport(FoundationEssentials)
      // Which has no room for a path.
      self.init(code)
    #else
      self.init(code, userInfo: [NSFilePathErrorKey: path])
    #endif
  }
}

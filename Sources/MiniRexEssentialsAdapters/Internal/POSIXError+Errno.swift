package import CLibrary

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension POSIXError {
  /// The error of the last system call.
  package static var last: POSIXError { POSIXError(errno: errno) }

  /// - Parameter code: The error number. `EIO` replaces numbers that Foundation does not name.
  package init(errno code: Int32) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO)
  }

  package init(errno code: Int32, path: String) {
    self.init(POSIXError(errno: code).code, path: path)
  }

  package init(_ code: POSIXErrorCode, path: String) {
    #if canImport(FoundationEssentials)
    // This initializer has no parameter for a path.
    self.init(code)
    #else
    self.init(code, userInfo: [NSFilePathErrorKey: path])
    #endif
  }
}

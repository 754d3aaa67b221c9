package import Foundation

extension POSIXError {
  /// Why the last call into the system has failed.
  static var last: POSIXError { POSIXError(errno: errno) }

  /// - Parameter code: What the system says; `EIO` stands for what Foundation has no name for.
  init(errno code: Int32) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO)
  }

  package init(errno code: Int32, path: String) {
    self.init(POSIXError(errno: code).code, path: path)
  }

  package init(_ code: POSIXErrorCode, path: String) {
    self.init(code, userInfo: [NSFilePathErrorKey: path])
  }
}

package import Foundation

extension POSIXError {
  package init(_ code: POSIXErrorCode, path: String) {
    self.init(code, userInfo: [NSFilePathErrorKey: path])
  }

  package init(errno code: Int32, path: String) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO, path: path)
  }
}

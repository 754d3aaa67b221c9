import Foundation

extension POSIXError {
  init(_ code: POSIXErrorCode, path: String) {
    self.init(code, userInfo: [NSFilePathErrorKey: path])
  }

  init(errno code: Int32, path: String) {
    self.init(POSIXErrorCode(rawValue: code) ?? .EIO, path: path)
  }
}

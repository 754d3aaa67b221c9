internal import Foundation

extension POSIXError {
  /// Why the last call into the system has failed.
  static var last: POSIXError {
    POSIXError(POSIXErrorCode(rawValue: errno) ?? .EINVAL)
  }
}

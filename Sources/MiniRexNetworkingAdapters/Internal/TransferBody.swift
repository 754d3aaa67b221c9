internal import Foundation
internal import MiniRex

/// The destination of a response body.
///
/// Calls are serial, except for `discard`.
protocol TransferBody: Sendable {
  associatedtype Success: Sendable

  /// Discards the bytes so far, because another response begins.
  func restart() throws(POSIXError)
  func append(_ data: Data) throws(POSIXError)
  func finish() throws(POSIXError) -> Success
  /// Thread-safe and idempotent.
  ///
  /// No file appears after this call, unless it already exists.
  func discard()
}

/// A body in memory.
final class DataBody: TransferBody {
  private let data = Lock(Data())

  func restart() { discard() }

  func append(_ chunk: Data) { data.withLock { $0.append(chunk) } }

  func finish() -> Data { data.withLock { $0 } }

  func discard() { data.withLock { $0 = Data() } }
}

internal import Foundation
internal import MiniRex

/// Where the body of an answer goes; called by one thread at a time, except for `discard`.
protocol TransferBody: Sendable {
  associatedtype Success: Sendable

  /// Forgets what there is: another answer begins.
  func restart() throws(POSIXError)
  func append(_ data: Data) throws(POSIXError)
  func finish() throws(POSIXError) -> Success
  /// Called by any thread, any number of times. Nothing appears after it, unless it does already.
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

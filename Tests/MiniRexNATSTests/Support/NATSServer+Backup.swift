#if NATS
import Foundation
import TestSupport

extension NATSServer {
  /// Copies the files of JetStream while the server is stopped.
  func backUp() async throws {
    await stop()
    try FileManager.default.copyItem(at: folder.file("jetstream"), to: folder.file("backup"))
    try await start()
  }

  /// Kills the server, removes the files of JetStream, and starts the server again.
  func restartEmpty() async throws {
    await stop()
    try FileManager.default.removeItem(at: folder.file("jetstream"))
    try await start()
  }

  /// Replaces the files of JetStream with the copy, and starts the server again.
  func restore() async throws {
    await stop()
    try FileManager.default.removeItem(at: folder.file("jetstream"))
    try FileManager.default.copyItem(at: folder.file("backup"), to: folder.file("jetstream"))
    try await start()
  }
}

/// Returns a Boolean value that indicates whether the condition holds before the limit.
///
/// - Parameter limit: The time on a quiet machine.
func holds(
  within limit: Duration = .seconds(20), _ condition: @autoclosure () async -> Bool
) async -> Bool {
  await holds(patience: Int(limit / .milliseconds(1))) { await condition() }
}
#endif

#if NATS
import Foundation
import TestSupport
import Testing

/// The program `nats-guest`, in a process that can be killed.
final class Guest: Sendable {
  private let process: RunningProcess

  init(_ arguments: String...) throws {
    let path = Bundle.main.bundleURL.appending(path: "nats-guest").path
    guard let nothing = FileHandle(forReadingAtPath: "/dev/null"),
      let output = FileHandle(forWritingAtPath: "/dev/null")
    else { throw POSIXError(.ENOENT) }
    process = try RunningProcess([path] + arguments, streams: [nothing, output])
  }

  deinit { kill() }

  var id: pid_t { process.id }

  /// Returns the exit status.
  func status(sourceLocation: SourceLocation = #_sourceLocation) async -> Int32? {
    await process.status(patience: 5 * serverPatience, sourceLocation: sourceLocation)
  }

  func kill() { process.send(SIGKILL) }
}
#endif

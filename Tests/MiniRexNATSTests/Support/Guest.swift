#if NATS
import Foundation
import TestSupport

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

  /// Returns the exit status.
  func status() async -> Int32? { await process.status() }

  func kill() { process.send(SIGKILL) }
}
#endif

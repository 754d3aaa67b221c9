#if NATS
import Foundation
import TestSupport
import Testing

/// A program in the folder `NATSPeer`, which uses another NATS client.
final class Peer: Sendable {
  private let process: RunningProcess

  static let isThere: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", "import nats"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  init(_ script: String, _ url: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let path = folder.appending(path: "NATSPeer/\(script)").path
    guard let nothing = FileHandle(forReadingAtPath: "/dev/null"),
      let output = FileHandle(forWritingAtPath: "/dev/null")
    else { throw POSIXError(.ENOENT) }
    process = try RunningProcess(
      ["/usr/bin/env", "python3", path, url], streams: [nothing, output])
  }

  deinit { process.send(SIGKILL) }

  func status(sourceLocation: SourceLocation = #_sourceLocation) async -> Int32? {
    await process.status(patience: serverPatience, sourceLocation: sourceLocation)
  }
}
#endif

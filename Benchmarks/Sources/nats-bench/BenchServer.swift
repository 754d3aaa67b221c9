#if NATS
import Foundation

/// A server on a free port, without JetStream.
final class BenchServer {
  let url: String
  private let process = Process()
  private let folder = URL.temporaryDirectory.appending(path: "nats-bench-\(getpid())")

  init() throws {
    let folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "nats-server", "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder.path, "-l",
      folder.appending(path: "log").path,
    ]
    try process.run()
    struct Ports: Decodable { let nats: [String] }
    var ports: Ports?
    while ports == nil, process.isRunning {
      usleep(10_000)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      ports = names.first { $0.hasSuffix(".ports") }.flatMap {
        try? JSONDecoder().decode(Ports.self, from: Data(contentsOf: folder.appending(path: $0)))
      }
    }
    guard let first = ports?.nats.first else { throw CocoaError(.executableLoad) }
    url = first
  }

  func stop() {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }
}
#endif

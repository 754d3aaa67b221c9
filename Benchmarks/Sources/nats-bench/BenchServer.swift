#if NATS
import Foundation

/// A server on a free port, with JetStream.
///
/// The variable `MINIREX_NATS_SERVER` is the path of the program, by default `nats-server`.
final class BenchServer {
  let url: String
  private let process = Process()
  private let folder = URL.temporaryDirectory.appending(path: "nats-bench-\(getpid())")

  init() throws {
    let folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      ProcessInfo.processInfo.environment["MINIREX_NATS_SERVER"] ?? "nats-server", "-a",
      "127.0.0.1", "-p", "-1", "--ports_file_dir", folder.path, "-l",
      folder.appending(path: "log").path, "-js", "-sd", folder.appending(path: "jetstream").path,
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

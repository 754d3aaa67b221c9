#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import TestSupport
import Testing

@Suite(.heavy)
struct ArticleTests {
  /// The folder of the package.
  private let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test func `the article shows the program in Examples`() throws {
    let article = package.appending(
      path: "Sources/MiniRexNATS/MiniRexNATS.docc/SeveralProcesses.md")
    let program = package.appending(path: "Examples/weather/main.swift")

    let text = try String(contentsOf: article, encoding: .utf8)
    let code = try String(contentsOf: program, encoding: .utf8)
      .split(separator: "#if NATS\n", maxSplits: 1)[0].split(separator: "#else\n")[0]
    #expect(text.contains("```swift\n\(code)```"))
  }

  @Test func `the two processes of the article exchange data`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let folder = try Folder()
    func start(_ part: String) throws -> RunningProcess {
      try folder.write("", to: part)
      let path = Bundle.main.bundleURL.appending(path: "weather").path
      guard let nothing = FileHandle(forReadingAtPath: "/dev/null"),
        let output = FileHandle(forWritingAtPath: folder.path(part))
      else { throw POSIXError(.ENOENT) }
      return try RunningProcess(
        ["/usr/bin/stdbuf", "-oL", path, part, server.url], streams: [nothing, output])
    }
    func says(_ line: String) -> Bool {
      let text = try? String(contentsOf: folder.file("display"), encoding: .utf8)
      return text?.split(separator: "\n").contains { $0 == line } ?? false
    }

    let station = try start("station")
    defer { station.send(SIGKILL) }
    await until(
      await nats.request(Double.self, 0.0, on: "fahrenheit", timeout: .seconds(5)).result
        == .success(32))
    let display = try start("display")
    defer { display.send(SIGKILL) }

    for line in ["1: 21.0 °C", "2: 22.0 °C", "now 22.0 °C", "21.5 °C are 70.7 °F"] {
      await until { says(line) }
    }
    await nats.close()
  }
}
#endif

#if NATS
import Foundation
import MiniRexNATS
import TestSupport
import Testing

@Suite(.heavy)
struct FleetArticleTests {
  /// The folder of the package.
  private let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `the article shows the program in Examples`() throws {
    let article = package.appending(path: "Sources/MiniRexFleet/MiniRexFleet.docc/MiniRexFleet.md")
    let program = package.appending(path: "Examples/fleet-board/main.swift")

    let text = try String(contentsOf: article, encoding: .utf8)
    let code = try String(contentsOf: program, encoding: .utf8)
      .split(separator: "#if NATS\n", maxSplits: 1)[0].split(separator: "#else\n")[0]
    #expect(text.contains("```swift\n\(code)```"))
  }

  @Test func `the program of the article serves its page and its inspector`() async throws {
    let server = try await NATSServer()
    let folder = try Folder()
    try folder.write("", to: "output")
    let input = Pipe()
    let path = Bundle.main.bundleURL.appending(path: "fleet-board").path
    let (output, errors) = (
      FileHandle(forWritingAtPath: folder.path("output")), FileHandle(forWritingAtPath: "/dev/null")
    )
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let program = try RunningProcess(
      ["/usr/bin/stdbuf", "-oL", path, server.url],
      streams: [input.fileHandleForReading, try #require(output), try #require(errors)])
    defer { program.send(SIGKILL) }
    func printed() -> String {
      (try? String(contentsOf: folder.file("output"), encoding: .utf8)) ?? ""
    }
    await until { printed().hasSuffix("/\n") }
    let url = try #require(printed().split(whereSeparator: \.isWhitespace).last)
    let port = try #require(URL(string: String(url))?.port.flatMap { UInt16(exactly: $0) })
    try input.fileHandleForWriting.write(contentsOf: Data("Order a belt\n".utf8))

    let client = try HTTPClient(port)
    let id = Shared("")
    onNewThread {
      client.forEachEvent { lines in
        let parts = lines.joined().components(separatedBy: #"{"id":""#)
        if parts.count == 2 { id.value = String(parts[1].prefix { $0 != "\"" }) }
      }
    }
    await until { !id.value.isEmpty }
    client.cancel()
    await until(
      (try? await response(
        from: port, to: "GET /process/\(id.value)/metrics HTTP/1.0\r\n\r\n"))?
        .contains("minirex_store_commits_total{store=\"board\",id=\"0\"} 1") ?? false)
  }
}
#endif

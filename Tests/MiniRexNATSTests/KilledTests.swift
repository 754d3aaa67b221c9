#if NATS
import Foundation
import TestSupport
import Testing

/// The processes that tests start, after the end of the tests.
@Suite(.heavy)
struct KilledTests {
  @Test func `no server and no guest outlives a killed test process`() async throws {
    let result = await #expect(
      processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
    ) {
      let server = try await NATSServer()
      let guest = try Guest("request", server.url, "nobody")
      let text = "started \(server.processID ?? 0) \(guest.id) .\n"
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
      kill(getpid(), SIGKILL)
    }

    let words =
      String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
      .components(separatedBy: "started ").last?.split(separator: " ") ?? []
    let ids = words.compactMap { pid_t($0) }
    #expect(ids.count == 2 && ids.allSatisfy { $0 > 0 })
    await until(ids.filter(isRunning)) { $0.isEmpty }
    for id in ids where isRunning(id) { kill(id, SIGKILL) }
  }

  /// A process that has ended has no arguments, even before its parent reaps it.
  private func isRunning(_ id: pid_t) -> Bool {
    let arguments = try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8)
    return arguments?.isEmpty == false
  }
}
#endif

import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import first_programs

@Suite(.light) struct ChatHubTests {
  let log = BroadcastSource<String>()

  @Test func `each guest receives the lines of all guests after it connects`() async throws {
    let told = Recorder(log.publisher)
    let hub = chat(arrivals(at: "127.0.0.1", 0)) { log.broadcast($0) }
    let port = try #require(await UInt16(told.next()[0].split(separator: ":")[1]))

    let one = try Connection(to: "127.0.0.1", port)
    let atOne = Recorder(one.lines)
    #expect(await atOne.next() == ["guest 1 comes"])
    let two = try Connection(to: "127.0.0.1", port)
    let atTwo = Recorder(two.lines)
    #expect(await atTwo.next() == ["guest 2 comes"])

    #expect(await one.send("Is this the hub?").result == .success(0))
    #expect(await atTwo.next() == ["guest 1: Is this the hub?"])
    #expect(await two.send("Grüezi\nand bye").result == .success(0))
    #expect(await atTwo.next(2) == ["guest 2: Grüezi", "guest 2: and bye"])
    two.close()

    #expect(
      await atOne.next(5) == [
        "guest 2 comes", "guest 1: Is this the hub?", "guest 2: Grüezi", "guest 2: and bye",
        "guest 2 leaves",
      ])
    hub.invalidate()
  }

  @Test func `a guest that never reads delays no other guest`() async throws {
    let told = Recorder(log.publisher)
    let hub = chat(arrivals(at: "127.0.0.1", 0)) { log.broadcast($0) }
    let port = try #require(await UInt16(told.next()[0].split(separator: ":")[1]))
    let silent = try Connection(to: "127.0.0.1", port)
    let speaker = try Connection(to: "127.0.0.1", port)
    let line = String(repeating: "x", count: 9_000)
    // More than the system buffers for the silent guest. Fewer with sanitizers, which are slow.
    let count = scaled(2_000)

    for _ in 1...count { _ = await speaker.send(line).result }
    #expect(await speaker.send("over").result == .success(0))

    _ = await told.next(2 + count)
    #expect(await told.next() == ["guest 2: over"])
    withExtendedLifetime((hub, silent)) {}
  }
}

import MiniRex
import TestSupport
import Testing

private actor Database {
  private(set) var lines: [String] = []

  func store(_ line: String) async { lines.append(line) }

  func insert(_ line: String) async -> Bool {
    lines.append(line)
    return true
  }

  func write(_ line: String) async { lines.append(line) }
}

private actor Cursor {
  private var rows = 0

  func next() async -> Int? {
    rows += 1
    return rows <= 3 ? rows : nil
  }
}

@Suite(.light) struct BackpressureSamples {
  @Test func `a slow database slows the input down`() async throws {
    let database = Database()
    let input = (0..<200).map { "line \($0)" }
    let lines = BroadcastSource<String>()
    let values = lines.publisher.values(.suspending(64))
    let storing = Task {
      for await line in values { await database.store(line) }
    }
    for line in input { try await lines.send(line) }
    lines.end()
    await storing.value
    #expect(await database.lines == input)
  }

  @Test func `a stream is copied without losing a line`() async throws {
    let database = Database()
    let file = (0..<200).map { "line \($0)" }
    let lines = BroadcastSource<String>()
    let values = lines.publisher.values(.suspending(64))
    async let copied = values.reduce(0) { sum, line in await database.insert(line) ? sum + 1 : sum }
    for line in file { try await lines.send(line) }
    lines.end()
    #expect(await copied == 200)
  }

  @Test func `an async function becomes a broadcaster`() async {
    let cursor = Cursor()
    let rows = Broadcaster<Int> { send in
      while let row = await cursor.next() { try await send(row) }
    }
    #expect(await rows.values(.suspending(1)).reduce(into: []) { $0.append($1) } == [1, 2, 3])
  }

  @Test func `a handler refuses while a subscriber is full`() {
    func accept(_ line: String, for source: BroadcastSource<String>) -> Int {
      source.offer(line) ? 202 : 503
    }
    let source = BroadcastSource<String>()
    let values = source.publisher.values(.suspending(1))
    #expect(accept("a", for: source) == 202)
    #expect(accept("b", for: source) == 503)
    withExtendedLifetime(values) {}
  }

  @Test func `a stalled client is cut off`() async {
    let (lines, socket) = (BroadcastSource<String>(), Database())
    Task {
      while lines.subscriberCount == 0 { await Task.yield() }
      lines.end()
    }
    let client = lines.publisher.values(.suspending(64, timeout: .seconds(5)))
    for await line in client { await socket.write(line) }
    if client.hasTimedOut { await socket.write("too slow") }
    #expect(await socket.lines.contains("too slow") == false)
  }
}

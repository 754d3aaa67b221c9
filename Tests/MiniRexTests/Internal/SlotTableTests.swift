import MiniRex
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct SlotTableTests {
  @Test func `a random script finds the subscribers where and in the order they joined`() {
    for seed in 0..<UInt64(scaled(60)) {
      let script = SlotTableScript(seed: seed)
      script.run(steps: 400)
      #expect(script.breach == nil, "seed \(seed)")
    }
  }

  @Test func `a crowd that has left leaves one segment and a spare`() {
    var table = SlotTable()
    var tokens: [Subscription] = []
    for serial in 1...UInt(20_000) { tokens.append(table.appendSilent(serial: serial)) }

    for token in tokens.reversed() {
      guard let slot = token.slot else { continue }
      release(table.remove(slot))
      table.tidy()
    }

    #expect(table.count == 0)
    #expect(table.segmentCount <= 2)
  }

  @Test func `holes are closed when they are more than the subscribers`() {
    var table = SlotTable()
    var tokens: [Subscription] = []
    for serial in 1...UInt(1_000) { tokens.append(table.appendSilent(serial: serial)) }

    for token in tokens.dropLast() {
      guard let slot = token.slot else { continue }
      release(table.remove(slot))
      table.tidy()
    }
    var visited = 0
    table.extent?.visit { _ in visited += 1 }

    #expect(visited <= 17)
    #expect(tokens.last?.slot?.serial == 1_000)
    #expect(table.segmentCount <= 5)
    table.end(tokens)
  }

  @Test func `a subscriber who comes and goes at the edge of a segment allocates nothing`() {
    var table = SlotTable()
    let tokens = (1...UInt(5)).map { table.appendSilent(serial: $0) }
    let first = table.appendSilent(serial: 6)
    let place = first.slot

    var isAlwaysThere = true
    table.end([first])
    for serial in UInt(7)..<1_000 {
      let token = table.appendSilent(serial: serial)
      isAlwaysThere = isAlwaysThere && token.slot == place && table.segmentCount == 3
      table.end([token])
    }

    #expect(isAlwaysThere)
    table.end(tokens)
  }

  @Test func `ended slots are released in the order of their ends`() {
    var table = SlotTable()
    let log = ReleaseLog()
    let tokens = (1...UInt(6)).map { table.append(serial: $0, log) }

    for index in [3, 0, 5] {
      if let slot = tokens[index].slot { table.removeLater(slot) }
    }
    table.removeAllLater()
    #expect(log.released.isEmpty)
    #expect(tokens.allSatisfy { $0.slot == nil })
    while table.hasEnded { release(table.takeEnded()) }

    #expect(log.released == [4, 1, 6, 2, 3, 5])
    table.tidy()
    #expect(table.extent?.first == table.last)
  }
}

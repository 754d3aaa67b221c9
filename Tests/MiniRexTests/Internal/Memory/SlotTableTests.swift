import MiniRex
import TestSupport
import Testing

@Suite(.light) struct SlotTableTests {
  @Test func `the table visits subscribers in the order they joined, in random scripts`() {
    for seed in 0..<UInt64(scaled(60)) {
      let script = SlotTableScript(seed: seed)
      script.run(steps: 400)
      #expect(script.breach == nil, "seed \(seed)")
    }
  }

  @Test func `after 20,000 cancellations, one segment and a spare remain`() {
    var table = SlotTable()
    var subscriptions: [Subscription] = []
    for serial in 1...UInt(20_000) { subscriptions.append(table.appendSilent(serial: serial)) }

    for subscription in subscriptions.reversed() {
      guard let slot = subscription.slot else { continue }
      release(table.remove(slot))
      table.tidy()
    }

    #expect(table.count == 0)
    #expect(table.segmentCount <= 2)
  }

  @Test func `the table is compacted when holes outnumber subscribers`() {
    var table = SlotTable()
    var subscriptions: [Subscription] = []
    for serial in 1...UInt(1_000) { subscriptions.append(table.appendSilent(serial: serial)) }

    for subscription in subscriptions.dropLast() {
      guard let slot = subscription.slot else { continue }
      release(table.remove(slot))
      table.tidy()
    }
    var visited = 0
    table.extent?.visit { _ in visited += 1 }

    #expect(visited <= 17)
    #expect(subscriptions.last?.slot?.serial == 1_000)
    #expect(table.segmentCount <= 5)
    table.end(subscriptions)
  }

  @Test func `joining and canceling at the edge of a segment does not allocate`() {
    var table = SlotTable()
    let subscriptions = (1...UInt(5)).map { table.appendSilent(serial: $0) }
    let first = table.appendSilent(serial: 6)
    let place = first.slot

    var isAlwaysThere = true
    table.end([first])
    for serial in UInt(7)..<1_000 {
      let subscription = table.appendSilent(serial: serial)
      isAlwaysThere = isAlwaysThere && subscription.slot == place && table.segmentCount == 3
      table.end([subscription])
    }

    #expect(isAlwaysThere)
    table.end(subscriptions)
  }

  @Test func `ended slots are released in the order of their ends`() {
    var table = SlotTable()
    let log = ReleaseLog()
    let subscriptions = (1...UInt(6)).map { table.append(serial: $0, log) }

    for index in [3, 0, 5] {
      if let slot = subscriptions[index].slot { table.removeLater(slot) }
    }
    table.removeAllLater()
    #expect(log.released.isEmpty)
    #expect(subscriptions.allSatisfy { $0.slot == nil })
    while table.hasEnded { release(table.takeEnded()) }

    #expect(log.released == [4, 1, 6, 2, 3, 5])
    table.tidy()
    #expect(table.extent?.first == table.last)
  }
}

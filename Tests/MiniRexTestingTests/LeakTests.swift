import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private final class Door: Sendable {
  let bell = BroadcastSource<Int>(name: "bell", fileID: "App/Door.swift", line: 1)
  let bag = SubscriptionBag()
  let rings = PublishedProperty(0)
}

@Suite(.light) struct LeakTests {
  @Test func `released objects pass, and an error of the body is rethrown`() async throws {
    try expectReleased { track in
      let door = track(Door())
      door.bell.publisher.subscribe { [rings = door.rings] in rings.value += $0 }.store(
        in: door.bag)
      door.bell.broadcast(1)
      #expect(door.rings.value == 1)
    }
    try await expectReleased { track in
      let door = track(Door())
      await Task { door.bell.broadcast(1) }.value
    }
    #expect(throws: CancellationError.self) {
      try expectReleased { _ in throw CancellationError() }
    }
    await #expect(throws: CancellationError.self) {
      try await expectReleased { _ async throws in throw CancellationError() }
    }
  }

  @Test func `a report names an object that its callback retains, and the subscription`()
    async
  {
    let bag = SubscriptionBag()
    let report = #expect(throws: LeakReport.self) {
      try expectReleased { track in
        let door = track(Door(), fileID: "App/Test.swift", line: 5)
        _ = track(Door())
        let ring: @Sendable (Int) -> Void = { door.rings.value += $0 }
        door.bell.publisher.map { $0 }
          .subscribe(ring, fileID: "App/Door.swift", line: 7).store(in: bag)
      }
    }
    let same = await #expect(throws: LeakReport.self) {
      try await expectReleased { track async in
        let door = track(Door(), fileID: "App/Test.swift", line: 5)
        let ring: @Sendable (Int) -> Void = { door.rings.value += $0 }
        merge(door.bell.publisher, door.rings.publisher)
          .subscribe(ring, fileID: "App/Door.swift", line: 7).store(in: bag)
      }
    }

    #expect(
      report?.description == """
        An object is still in memory:
          Door, App/Test.swift:5
        A subscription is still active:
          bell → map → subscribe, App/Door.swift:7
        """)
    #expect(
      same?.subscriptions == [
        "(bell, PublishedProperty<Int>) → merge → subscribe, App/Door.swift:7"
      ])
    bag.invalidate()
  }

  @Test func `a report names the subscriptions in a bag`() async throws {
    let bag = SubscriptionBag()
    let kept = try #require(
      #expect(throws: LeakReport.self) {
        try expectSubscriptionsEnded {
          let door = Door()
          door.bell.publisher.subscribe(
            { [door] _ in _ = door }, fileID: "App/Test.swift", line: 1
          ).store(in: bag)
          door.bell.publisher.subscribe(
            { _ in }, fileID: "App/Test.swift", line: 2
          ).store(in: bag)
        }
      })
    bag.invalidate()
    let other = SubscriptionBag()
    try await expectSubscriptionsEnded {
      let door = Door()
      door.bell.publisher.subscribe { [door] _ in _ = door }.store(in: other)
      await Task.yield()
      other.invalidate()
    }

    #expect(
      kept.description == """
        2 subscriptions are still active:
          bell → subscribe, App/Test.swift:1
          bell → subscribe, App/Test.swift:2
        """)
    #expect(kept.objects == [])
  }

  @Test func `the current instrument still receives all events`() throws {
    let events = PublishedProperty<[String]>([])
    let log = PrintingInstrument(backlogLimit: 5) { line in
      events.modify { $0.append(line) }
    }
    try withInstrument(log) {
      try expectSubscriptionsEnded { BroadcastSource<Int>(name: "inner").end() }
    }

    #expect(events.value.count == 1 && events.value[0].hasPrefix("inner: finished"))
  }

  @Test func `a graph shows the place of a recorder`() {
    let graph = LiveGraph()
    let source = BroadcastSource<Int>(instrument: graph)
    let recorder = Recorder(source.publisher)
    let line = #line - 1

    withExtendedLifetime(recorder) {
      #expect(graph.snapshot().nodes.last?.place == CodePlace(fileID: #fileID, line: line))
    }
  }
}

import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy, .serialized) struct ContextStormTests {
  typealias Path = ContextTests.Path
  typealias Update = ContextTests.Update

  /// The number of updates per path.
  ///
  /// Contended, a debug build needs up to 27 µs of processor time for each, and there are 47 paths.
  private static let count = scale < 100 ? scaled(400) : 1_000_000

  private static let paths =
    Path.all
    + Operator.all.map { one in
      Path(one.name) { publisher, _, receive in
        one.apply(publisher.map(\.sender)).subscribe { receive(Update(sender: $0, number: 0)) }
      }
    }

  @Test(arguments: paths)
  func `R44 every update has the request ID of its sender`(_ path: Path) async {
    await withCarried(Request.$id) {
      let source = BroadcastSource<Update>()
      let clock = ManualClock()
      let (received, wrong, isOver) = (Shared(0), Shared(0), Shared(false))
      let subscription = await path.follow(source.publisher, clock) { update in
        received.increment()
        if Request.id != update.sender { wrong.increment() }
        if update.sender < 0 { isOver.value = true }
      }
      let send: @Sendable (Int) -> Void = { id in
        Request.$id.withValue(id) { source.broadcast(Update(sender: id, number: 0)) }
      }
      let countOfSender = Self.count / 8
      onThreads(9) { thread in
        for number in 0..<countOfSender {
          if thread == 8 {
            clock.tick()
          } else {
            send(1 + number * 8 + thread)
          }
        }
      }
      // `flatMap(limit:)` takes a second for each pair of updates.
      for _ in 0..<8 * countOfSender where clock.sleeperCount > 0 { clock.tick() }
      // The last update may replace the updates that a bounded buffer still has.
      await until {
        clock.tick()
        return received.value > 0
      }
      send(-1)
      await until {
        clock.tick()
        return isOver.value
      }
      #expect(wrong.value == 0, "of \(received.value)")
      withExtendedLifetime(subscription) {}
    }
  }
}

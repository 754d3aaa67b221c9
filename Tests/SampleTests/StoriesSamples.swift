import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private let feed = BroadcastSource<Int>()

/// A resource that is expensive while it is open.
private final class Connection: Sendable {
  private let subscription: Subscription

  init(_ receive: @escaping @Sendable (Int) -> Void) {
    subscription = feed.publisher.subscribe(receive)
  }

  func close() { subscription.invalidate() }
}

/// The samples of Stories.md.
@Suite(.light) struct StoriesSamples {
  @Test func `share opens one connection, and closes it with the last subscription`() {
    let prices = Broadcaster<Int> { receive in
      let connection = Connection { receive($0) }
      return Subscription { connection.close() }
    }

    let both = [prices.subscribe { _ in }, prices.subscribe { _ in }]
    #expect(feed.subscriberCount == 2)
    for subscription in both { subscription.invalidate() }

    let paper = Paper()
    let show: @Sendable (Int) -> Void = { paper.print("table \($0)") }
    let draw: @Sendable (Int) -> Void = { paper.print("chart \($0)") }

    let shared = prices.share()
    let table = shared.subscribe { show($0) }
    let chart = shared.subscribe { draw($0) }

    #expect(feed.subscriberCount == 1)
    feed.broadcast(7)
    #expect(paper.lines == ["table 7", "chart 7"])
    table.invalidate()
    #expect(feed.subscriberCount == 1)
    chart.invalidate()
    #expect(feed.subscriberCount == 0)
  }

  @Test func `share gives each subscriber the updates of its subscription`() {
    let timeline = Timeline()

    let prices = timeline.broadcaster("1-2-3-4-5-").share()
    timeline.expect("                  1-2-3-", during: "^-----!---", from: prices)
    timeline.expect("                  --2-3-4-", during: "--^-----!-", from: prices)

    #expect(timeline.play() == nil)
  }

  @Test func `throttle emits at most once per interval`() {
    let clock = ManualClock()
    let paper = Paper()
    let draw: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let pointer = BroadcastSource<Int>()
    let position = pointer.publisher

    let frames = position.throttle(for: .milliseconds(16), clock: clock)
    let drawing = frames.subscribe { draw($0) }

    for x in 0...32 {
      pointer.broadcast(x)
      clock.advance(by: .milliseconds(1))
    }
    #expect(paper.lines == ["0", "15", "31"])
    drawing.invalidate()
  }

  @Test func `throttle emits during a movement, and debounce after it`() {
    let timeline = Timeline()

    let moves = timeline.broadcaster("  abcdefg---h----")
    let steady = moves.throttle(for: .seconds(3), clock: timeline.clock)
    timeline.expect("                   a--c--f--g--h--", from: steady)
    let first = moves.throttle(for: .seconds(3), latest: false, clock: timeline.clock)
    timeline.expect("                   a--d--g---h----", from: first)
    let resting = moves.debounce(for: .seconds(3), clock: timeline.clock)
    timeline.expect("                   ---------g---h-", from: resting)

    #expect(timeline.play() == nil)
  }

  @Test func `combineLatest updates when either input changes`() {
    let paper = Paper()
    let show: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let price = PublishedProperty(2)
    let count = PublishedProperty(3)

    let total = combineLatest(price.publisher, count.publisher) { price, count in price * count }
    let label = total.subscribe { show($0) }

    count.value = 4
    price.value = 5
    #expect(paper.lines == ["6", "8", "20"])
    label.invalidate()
  }

  @Test func `combineLatest emits when either the price or the count changes`() {
    let timeline = Timeline()
    let numbers: [Character: Int] = ["1": 1, "2": 2, "3": 3, "4": 4, "5": 5]

    let price = timeline.value("2---5----", numbers)
    let count = timeline.value("3-4---1--", numbers)
    let total = combineLatest(price, count) { price, count in price * count }
    timeline.expect("           a-b-c-d--", ["a": 6, "b": 8, "c": 20, "d": 5], from: total)

    #expect(timeline.play() == nil)
  }
}

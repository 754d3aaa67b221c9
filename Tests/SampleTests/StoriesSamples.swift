import MiniRex
import MiniRexTesting
import Testing

private let feed = BroadcastSource<Int>()

/// Something that costs as long as it is open.
private final class Connection: Sendable {
  private let token: Subscription

  init(_ tell: @escaping @Sendable (Int) -> Void) {
    token = feed.publisher.subscribe(tell)
  }

  func close() { token.invalidate() }
}

@Suite(.timeLimit(.minutes(20))) struct StoriesSamples {
  @Test func `share opens one connection, and the last who leaves closes it`() {
    let prices = Broadcaster<Int> { receive in
      let connection = Connection { receive($0) }
      return Subscription { connection.close() }
    }

    let both = [prices.subscribe { _ in }, prices.subscribe { _ in }]
    #expect(feed.subscriberCount == 2)
    for token in both { token.invalidate() }

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

  @Test func `share as a picture`() {
    let timeline = Timeline()

    let prices = timeline.broadcaster("1-2-3-4-5-").share()
    timeline.expect("                  1-2-3-", during: "^-----!---", from: prices)
    timeline.expect("                  --2-3-4-", during: "--^-----!-", from: prices)

    #expect(timeline.play() == nil)
  }

  @Test func `a pointer is drawn no more often than the screen shows it`() {
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

  @Test func `throttle as a picture, beside debounce`() {
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

  @Test func `a total follows a price and a count`() {
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

  @Test func `combineLatest as a picture`() {
    let timeline = Timeline()
    let numbers: [Character: Int] = ["1": 1, "2": 2, "3": 3, "4": 4, "5": 5]

    let price = timeline.value("2---5----", numbers)
    let count = timeline.value("3-4---1--", numbers)
    let total = combineLatest(price, count) { price, count in price * count }
    timeline.expect("           a-b-c-d--", ["a": 6, "b": 8, "c": 20, "d": 5], from: total)

    #expect(timeline.play() == nil)
  }
}

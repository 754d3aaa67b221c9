import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of MovingFromReactiveSwift.md.
@Suite(.light) struct MovingFromReactiveSwiftSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  enum PriceError: Error {
    case late, unknown
  }

  final class Basket: Sendable {
    private let added = BroadcastSource<String>()
    private let isOpen = PublishedProperty(true)
    let count: PublishedValue<Int>
    let canOrder: PublishedValue<Bool>

    init() {
      count = added.publisher.scan(0) { count, _ in count + 1 }.publishedValue(initial: 0)
      canOrder = combineLatest(count, isOpen.publisher) { count, isOpen in count > 0 && isOpen }
    }

    func add(_ item: String) { added.broadcast(item) }
    func close() { isOpen.value = false }
  }

  func price(
    of item: String, clock: any Clock<Duration> = ContinuousClock(),
    request: @escaping @Sendable (String) async throws(PriceError) -> Int
  ) -> PublishedTask<Int, PriceError> {
    PublishedTask.retrying(times: 2, clock: clock) { () async throws(PriceError) in
      try await request(item)
    }
    .timeout(after: .seconds(5), clock: clock)
    .mapError { error in
      switch error {
      case .timedOut: .late
      case .failed(let error): error
      }
    }
  }

  @Test func `a basket can be ordered while it is open and not empty`() {
    let basket = Basket()
    let count = Recorder(basket.count)
    let canOrder = Recorder(basket.canOrder)

    basket.add("tea")
    basket.add("milk")
    basket.close()

    #expect(count.updates == [0, 1, 2])
    #expect(canOrder.updates == [false, true, false])
  }

  @Test func `a price request is retried, and times out`() async {
    let requests = Paper()
    let clock = ManualClock()
    let known = price(of: "tea", clock: clock) { item throws(PriceError) in
      requests.print(item)
      if requests.lines.count < 3 { throw .unknown }
      return 3
    }
    #expect(await known.result == .success(3))
    #expect(requests.lines.count == 3)

    let gate = TaskSource<Int, Never>()
    let slow = Recorder(
      price(of: "gold", clock: clock) { _ throws(PriceError) in
        guard case .success(let price) = await gate.publisher.result else { throw .unknown }
        return price
      })
    await clock.advance(by: .seconds(5))
    #expect(await slow.next() == [.failure(.late)])
  }

  @Test func `a re-entrant set is queued`() {
    let count = PublishedProperty(7)
    let subscription = count.publisher.subscribe { value in
      print(value)
      if value > 5 { count.value = 5 }
    }

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["7", "5"])
  }
}

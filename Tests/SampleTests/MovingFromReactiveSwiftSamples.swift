import MiniRex
import MiniRexTesting
import Testing

/// The code of MovingFromReactiveSwift.md.
@Suite(.timeLimit(.minutes(20))) struct MovingFromReactiveSwiftSamples {
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
    ask: @escaping @Sendable (String) async throws(PriceError) -> Int
  ) -> PublishedTask<Int, PriceError> {
    PublishedTask.retrying(times: 2, clock: clock) { () async throws(PriceError) in
      try await ask(item)
    }
    .timeout(after: .seconds(5), clock: clock)
    .mapError { error in
      switch error {
      case .timedOut: .late
      case .failed(let error): error
      }
    }
  }

  @Test func `a basket that is not empty can be ordered while it is open`() {
    let basket = Basket()
    let count = Recorder(basket.count)
    let canOrder = Recorder(basket.canOrder)

    basket.add("tea")
    basket.add("milk")
    basket.close()

    #expect(count.updates == [0, 1, 2])
    #expect(canOrder.updates == [false, true, false])
  }

  @Test func `a price is asked for again, but not for ever`() async {
    let asked = Paper()
    let clock = ManualClock()
    let known = price(of: "tea", clock: clock) { item throws(PriceError) in
      asked.print(item)
      if asked.lines.count < 3 { throw .unknown }
      return 3
    }
    #expect(await known.result == .success(3))
    #expect(asked.lines.count == 3)

    let gate = TaskSource<Int, Never>()
    let slow = Recorder(
      price(of: "gold", clock: clock) { _ throws(PriceError) in
        guard case .success(let price) = await gate.publisher.result else { throw .unknown }
        return price
      })
    await clock.advance(by: .seconds(5))
    #expect(await slow.next() == [.failure(.late)])
  }

  @Test func `a property may be set in a callback of its own`() {
    let count = PublishedProperty(7)
    let subscription = count.publisher.subscribe { value in
      print(value)
      if value > 5 { count.value = 5 }
    }

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["7", "5"])
  }
}

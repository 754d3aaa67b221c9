import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of MovingFromCombine.md.
@Suite(.light) struct MovingFromCombineSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  struct SearchError: Error {}

  final class SearchModel: Sendable {
    let query = PublishedProperty("")
    let results: PublishedValue<[String]>

    init(
      clock: any Clock<Duration> = ContinuousClock(),
      search: @escaping @Sendable (String) -> PublishedTask<[String], SearchError>
    ) {
      results = query.publisher
        .debounce(for: .milliseconds(300), clock: clock)
        .filter { !$0.isEmpty }
        .flatMapLatest { text in search(text).recover { _ in .success([]) } }
        .map { $0.get() }
        .publishedValue(initial: [])
    }
  }

  @Test func `a debounced search runs once, and a failure has no results`() {
    let clock = ManualClock()
    let searches = Paper()
    let model = SearchModel(clock: clock) { text in
      searches.print(text)
      return text == "x" ? .failure(SearchError()) : .success(["\(text)!"])
    }
    let results = Recorder(model.results)

    model.query.value = "s"
    model.query.value = "sw"
    clock.advance(by: .milliseconds(300))
    model.query.value = "x"
    clock.advance(by: .milliseconds(300))

    #expect(searches.lines == ["sw", "x"])
    #expect(results.updates == [[], ["sw!"], []])
  }

  @Test func `a re-entrant send is queued`() {
    let numbers = BroadcastSource<Int>()
    let first = numbers.publisher.subscribe { number in
      if number == 1 { numbers.broadcast(2) }
    }
    let second = numbers.publisher.subscribe { print($0) }
    numbers.broadcast(1)  // prints 1, then 2

    withExtendedLifetime((first, second)) {}
    #expect(paper.lines == ["1", "2"])
  }

  @Test func `a callback reads the new value`() {
    let temperature = PublishedProperty(20)
    let subscription = temperature.publisher.subscribe { celsius in
      print("\(celsius), \(temperature.value)")
    }
    temperature.value = 21  // prints 21, 21
    temperature.value = 21  // prints nothing

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["20, 20", "21, 21"])
  }

  @Test func `a total is computed from the values that it reads`() {
    let price = PublishedProperty(20)
    let count = PublishedProperty(3)
    let total = PublishedValue.computed { read in read(price) * read(count) }
    let subscription = total.subscribe { print("total \($0)") }  // prints total 60
    together { set in
      set(price, to: 10)
      set(count, to: 4)
    }  // prints total 40

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["total 60", "total 40"])
  }
}

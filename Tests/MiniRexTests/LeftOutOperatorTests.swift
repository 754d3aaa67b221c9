import Dispatch
import Foundation
import MiniRex
import MiniRexTesting
import Testing

/// What to write instead of the operators that are left out: see Docs/Decisions/0012.
@Suite struct LeftOutOperatorTests {
  let numbers = BroadcastSource<Int>()
  let letters = BroadcastSource<String>()

  @Test func `zip: two loops that go in step, whose buffers say what they hold`() async {
    let numbers = numbers.publisher.values(.bufferingOldest(100))
    let letters = letters.publisher.values(.bufferingOldest(100))
    for number in 1...3 { self.numbers.broadcast(number) }
    for letter in ["a", "b"] { self.letters.broadcast(letter) }
    self.letters.end()

    var pairs: [String] = []
    var numberAfterNumber = numbers.makeAsyncIterator()
    for await letter in letters {
      guard let number = await numberAfterNumber.next() else { break }
      pairs.append("\(number)\(letter)")
    }

    #expect(pairs == ["1a", "2b"])
  }

  @Test func `zip of two tasks is all`() async {
    let user = PublishedTask<String, Never>.success("Ada")
    let year = PublishedTask<Int, Never>.success(1815)

    let both = all(user, year).map { user, year in "\(user), \(year)" }

    #expect(await both.result == .success("Ada, 1815"))
  }

  @Test func `demand: a loop takes the next when it is ready, a policy says what is dropped`() async
  {
    let values = numbers.publisher.values(.bufferingNewest(1))
    for number in 1...9 { numbers.broadcast(number) }
    numbers.end()

    var taken: [Int] = []
    for await number in values { taken.append(number) }

    #expect(taken == [9])
  }

  @Test func `groupBy: who knows the key filters`() {
    let even = Recorder(numbers.publisher.filter { $0 % 2 == 0 })
    for number in 1...4 { numbers.broadcast(number) }
    #expect(even.updates == [2, 4])
  }

  @Test func `groupBy: who does not know the keys keeps a dictionary`() {
    let groups = Recorder(
      numbers.publisher.scan([Int: [Int]]()) { groups, number in
        groups.merging([number % 3: [number]]) { $0 + $1 }
      })
    for number in 1...4 { numbers.broadcast(number) }
    #expect(groups.updates.last == [0: [3], 1: [1, 4], 2: [2]])
  }

  @Test func `window: so many at a time are a scan`() {
    let threes = Recorder(
      numbers.publisher
        .scan([]) { window, number in (window.count == 3 ? [] : window) + [number] }
        .filter { $0.count == 3 })
    for number in 1...7 { numbers.broadcast(number) }
    #expect(threes.updates == [[1, 2, 3], [4, 5, 6]])
  }

  @Test func `window: what comes in an interval is a scan, too, with a clock merged in`() {
    let clock = ManualClock()
    let ticks = clock.broadcaster(every: .seconds(1)).map { _ in Int?.none }
    let windows = Recorder(
      merge(numbers.publisher.map { Optional($0) }, ticks)
        .scan((open: [Int](), closed: [Int]?.none)) { window, number in
          if let number { return (window.open + [number], nil) }
          return ([], window.open)
        }
        .compactMap { $0.closed })
    for number in 1...5 {
      numbers.broadcast(number)
      if number % 2 == 0 { clock.advance(by: .seconds(1)) }
    }
    #expect(windows.updates == [[1, 2], [3, 4]])
  }

  @Test func `a connectable: a source of your own, and the moment at which you feed it`() {
    let hub = BroadcastSource<Int>()
    let first = Recorder(hub.publisher)
    let second = Recorder(hub.publisher.map { $0 * 10 })

    let connection = Broadcaster.sequence([1, 2]).subscribe { hub.broadcast($0) }

    #expect(first.updates == [1, 2])
    #expect(second.updates == [10, 20])
    withExtendedLifetime(connection) {}
  }

  @Test func `replay: the last few are a value`() {
    let lastTwo = numbers.publisher
      .scan([]) { Array(($0 + [$1]).suffix(2)) }
      .publishedValue(initial: [])
    for number in 1...3 { numbers.broadcast(number) }
    #expect(Recorder(lastTwo).updates == [[2, 3]])
  }

  @Test func `a scheduler: time is an argument, and where the callback runs is a way to subscribe`()
    async
  {
    actor Log {
      var updates: [Int] = []
      func append(_ update: Int) { updates.append(update) }
    }
    let clock = ManualClock()
    let log = Log()
    let calm = numbers.publisher.debounce(for: .seconds(1), clock: clock)
    let token = calm.subscribe(isolatedTo: log) { log, number in log.append(number) }

    for number in 1...3 { numbers.broadcast(number) }
    await clock.advance(by: .seconds(1))
    while await log.updates.isEmpty { await Task.yield() }

    #expect(await log.updates == [3])
    withExtendedLifetime(token) {}
  }

  @Test func `the decision quotes what is run here`() throws {
    let tests = URL(filePath: #filePath)
    let decision = tests.deletingLastPathComponent().appending(
      path: "../../Docs/Decisions/0012-operators-left-out.md")
    let source = lines(of: try String(contentsOf: tests, encoding: .utf8))
    let quoted = try String(contentsOf: decision, encoding: .utf8)
      .components(separatedBy: "```").enumerated()
      .filter { $0.offset % 2 == 1 }
      .flatMap { lines(of: $0.element).dropFirst() }
    #expect(quoted.count > 10)
    for line in quoted { #expect(source.contains(line), "\(line) is not run") }
  }

  private func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }
}

import Dispatch
import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Replacements for operators that MiniRex omits: see Docs/Decisions/0012.
@Suite(.light) struct LeftOutOperatorTests {
  let numbers = BroadcastSource<Int>()
  let letters = BroadcastSource<String>()

  @Test func `zip: a loop takes one update of each publisher per step`() async {
    let recorder = Recorder(zip(numbers.publisher, letters.publisher))
    for number in 1...3 { numbers.broadcast(number) }
    for letter in ["a", "b"] { letters.broadcast(letter) }
    #expect(await recorder.next(2) == ["1a", "2b"])
    letters.end()

    await until { recorder.hasEnded }
    #expect(recorder.updates == ["1a", "2b"])
    #expect(numbers.subscriberCount == 0 && letters.subscriberCount == 0)
  }

  @Test func `zip: either end finishes the loop, and canceling does as well`() async {
    let recorder = Recorder(zip(numbers.publisher, letters.publisher))
    numbers.broadcast(1)
    numbers.end()
    for letter in ["a", "b"] { letters.broadcast(letter) }
    await until { recorder.hasEnded }
    #expect(recorder.updates == ["1a"])
    await until { letters.subscriberCount == 0 }

    Recorder(zip(letters.publisher.map { _ in 1 }, letters.publisher)).invalidate()
    await until { letters.subscriberCount == 0 }
  }

  private func zip(
    _ numbers: Broadcaster<Int>, _ letters: Broadcaster<String>
  ) -> Broadcaster<String> {
    let pairs = Broadcaster<String> { receive in
      let (numbers, letters) = (numbers.values(.unbounded), letters.values(.unbounded))
      let loop = Task {
        var numberAfterNumber = numbers.makeAsyncIterator()
        for await letter in letters {
          guard let number = await numberAfterNumber.next() else { return }
          receive("\(number)\(letter)")
        }
      }
      return Subscription { loop.cancel() }
    }
    return pairs
  }

  @Test func `zip of two tasks is all`() async {
    let user = PublishedTask<String, Never>.success("Ada")
    let year = PublishedTask<Int, Never>.success(1815)

    let both = all(user, year).map { user, year in "\(user), \(year)" }

    #expect(await both.result == .success("Ada, 1815"))
  }

  @Test func `demand: a loop pulls updates, and its buffering policy drops the rest`() async {
    let values = numbers.publisher.values(.bufferingNewest(1))
    for number in 1...9 { numbers.broadcast(number) }
    numbers.end()

    var taken: [Int] = []
    for await number in values { taken.append(number) }

    #expect(taken == [9])
  }

  @Test func `sample: the last update of each chunk, including the last partial chunk`() {
    let clock = ManualClock()
    let numbers = numbers.publisher
    let samples = numbers.chunked(every: .seconds(1), clock: clock).compactMap(\.last)
    let recorder = Recorder(samples)
    for number in 1...5 {
      self.numbers.broadcast(number)
      if number % 2 == 0 { clock.advance(by: .seconds(1)) }
    }
    self.numbers.end()
    #expect(recorder.updates == [2, 4, 5])
    #expect(recorder.hasEnded && clock.sleeperCount == 0)
  }

  @Test func `sample: withLatest emits the latest value for each trigger`() {
    let source = BroadcastSource<Void>()
    let (taps, numbers) = (source.publisher, numbers.publisher)
    let latest = taps.withLatest(from: numbers).map { $1 }
    let recorder = Recorder(latest)
    source.broadcast(())
    for number in 1...3 {
      self.numbers.broadcast(number)
      if number != 2 { source.broadcast(()) }
    }
    source.end()
    #expect(recorder.updates == [1, 3])
    #expect(recorder.hasEnded && self.numbers.subscriberCount == 0)
  }

  @Test func `race: first of a merge finishes with the first update`() async {
    let (fast, slow) = (numbers.publisher, numbers.publisher.map { -$0 })
    let winner = Recorder(merge(fast, slow).first())
    numbers.broadcast(1)
    #expect(winner.updates == [.success(1)])
    #expect(winner.hasEnded && numbers.subscriberCount == 0)
  }

  @Test func `groupBy: a known key is a filter`() {
    let even = Recorder(numbers.publisher.filter { $0 % 2 == 0 })
    for number in 1...4 { numbers.broadcast(number) }
    #expect(even.updates == [2, 4])
  }

  @Test func `groupBy: a chunk becomes a dictionary`() {
    let numbers = numbers.publisher
    let groups = numbers.chunked(by: 4).map { Dictionary(grouping: $0) { $0 % 3 } }
    let recorder = Recorder(groups)
    for number in 1...5 { self.numbers.broadcast(number) }
    self.numbers.end()
    #expect(recorder.updates == [[0: [3], 1: [1, 4], 2: [2]], [2: [5]]])
    #expect(recorder.hasEnded)
  }

  @Test func `window: a sliding window is a scan`() {
    let numbers = numbers.publisher
    let threes = numbers.scan([]) { ($0 + [$1]).suffix(3) }.filter { $0.count == 3 }
    let recorder = Recorder(threes)
    for number in 1...5 { self.numbers.broadcast(number) }
    self.numbers.end()
    #expect(recorder.updates == [[1, 2, 3], [2, 3, 4], [3, 4, 5]])
    #expect(recorder.hasEnded)
  }

  @Test func `connectable: subscribe to a source first, then feed it`() {
    let hub = BroadcastSource<Int>()
    let first = Recorder(hub.publisher)
    let second = Recorder(hub.publisher.map { $0 * 10 })

    let connection = Broadcaster.sequence([1, 2]).subscribe { hub.broadcast($0) }

    #expect(first.updates == [1, 2])
    #expect(second.updates == [10, 20])
    withExtendedLifetime(connection) {}
  }

  @Test func `replay: a published value gives late subscribers the last updates`() {
    let show = Shared<[Int]>([])
    let numbers = numbers.publisher
    let counted = numbers.scan((0, [Int]())) { ($0.0 + 1, ($0.1 + [$1]).suffix(2)) }
    let lastTwo = counted.publishedValue(initial: (0, []))
    for number in [1, 2, 2] { self.numbers.broadcast(number) }

    let subscription = lastTwo.subscribe(
      initial: { for number in $0.1 { show.append(number) } },
      updates: { if let number = $0.1.last { show.append(number) } })
    for _ in 1...2 { self.numbers.broadcast(2) }
    self.numbers.end()

    #expect(show.value == [2, 2, 2, 2])
    #expect(!subscription.isSubscribed)
    #expect(Recorder(lastTwo).updates.map(\.1) == [[2, 2]])
  }

  @Test func `scheduler: pass a clock, and choose where to receive`()
    async
  {
    actor Log {
      var updates: [Int] = []
      func append(_ update: Int) { updates.append(update) }
    }
    let clock = ManualClock()
    let log = Log()
    let calm = numbers.publisher.debounce(for: .seconds(1), clock: clock)
    let subscription = calm.subscribe(isolatedTo: log) { log, number in log.append(number) }

    for number in 1...3 { numbers.broadcast(number) }
    await clock.advance(by: .seconds(1))
    await until { await !log.updates.isEmpty }

    #expect(await log.updates == [3])
    withExtendedLifetime(subscription) {}
  }

  @Test func `every line that the decision quotes is compiled here`() throws {
    let tests = URL(filePath: #filePath)
    let decision = tests.deletingLastPathComponent().appending(
      path: "../../../Docs/Decisions/0012-operators-left-out.md")
    let source = lines(of: try String(contentsOf: tests, encoding: .utf8))
    let quoted = try String(contentsOf: decision, encoding: .utf8)
      .components(separatedBy: "```").enumerated()
      .filter { $0.offset % 2 == 1 }
      .flatMap { lines(of: $0.element).dropFirst() }
    #expect(quoted.count > 10)
    for line in quoted { #expect(source.contains(line), "\(line) is not run") }
  }

  @Test func `the decision covers every operator that the articles refer to`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let path = "Docs/Decisions/0012-operators-left-out.md"
    let decision = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    let folder = root.appending(path: "Sources/MiniRex/MiniRex.docc")
    let articles = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    var names: [String] = []
    for article in articles where article.hasPrefix("Moving") || article.hasPrefix("Choosing") {
      let text = try String(contentsOf: folder.appending(path: article), encoding: .utf8)
      for paragraph in text.components(separatedBy: "\n\n") where paragraph.contains(path) {
        let sent = paragraph.components(separatedBy: path)[0].components(separatedBy: "`")
        names += sent.dropLast().enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      }
    }
    #expect(names.count > 15)
    for name in names { #expect(decision.contains("`\(name)`"), "\(name) is not found") }
  }

  private func lines(of text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }
}

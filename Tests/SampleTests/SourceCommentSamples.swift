import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private final class Ticking: Sendable {
  static let beats = BroadcastSource<Date>()
  let token: Subscription

  init(_ token: Subscription) { self.token = token }

  func stop() { token.invalidate() }
}

private func start(every seconds: Int, _ tick: @escaping @Sendable () -> Void) -> Ticking {
  Ticking(Ticking.beats.publisher.subscribe { _ in tick() })
}

@MainActor
private final class Label {
  var text = ""
}

/// The samples in comments of sources, publishers, subscriptions and instruments.
@Suite(.light) struct SourceCommentSamples {
  struct Person: Sendable, Equatable {
    let name: String
  }

  final class Door: Sendable {
    private let source = BroadcastSource<Person>()
    var visitors: Broadcaster<Person> { source.publisher }
    func enter(_ person: Person) { source.broadcast(person) }
  }

  final class Counting: Sendable {
    let sum = Lock(0)
    var value: Int { sum.withLock { $0 } }

    func add(_ count: Int) { sum.withLock { $0 += count } }
  }

  struct Counter: Instrument {
    let dropped = Counting()
    func record(_ event: InstrumentEvent) {
      if case .dropped(let count) = event.kind { dropped.add(count) }
    }
  }

  private let paper = Paper()
  private let clock = ManualClock()

  @Test func `a broadcast source sends events to subscribers`() {
    let door = Door()
    let recorder = Recorder(door.visitors)
    door.enter(Person(name: "Ada"))
    #expect(recorder.updates == [Person(name: "Ada")])
  }

  @Test func `a subscriber receives mapped updates`() {
    let print: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let source = BroadcastSource<Int>()
    let subscription = source.publisher
      .map { $0 * 2 }
      .subscribe { print($0) }
    source.broadcast(21)  // prints 42
    #expect(paper.lines == ["42"])
    subscription.invalidate()
  }

  @Test func `a property publishes its changes`() {
    let print: @Sendable (Double) -> Void = { paper.print("\($0)") }
    let temperature = PublishedProperty(20.0)
    let subscription = temperature.publisher.subscribe { print($0) }  // prints 20.0
    temperature.value = 21.5  // prints 21.5
    temperature.value = 21.5  // prints nothing
    #expect(paper.lines == ["20.0", "21.5"])
    subscription.invalidate()
  }

  @Test func `a computed value reads properties`() {
    let print: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let price = PublishedProperty(20)
    let count = PublishedProperty(3)
    let total = PublishedValue.computed { read in read(price) * read(count) }
    print(total.current() ?? 0)  // prints 60
    let subscription = total.subscribe { print($0) }  // prints 60
    count.value = 4  // prints 80
    #expect(paper.lines == ["60", "60", "80"])
    subscription.invalidate()
  }

  @Test func `together sets several properties`() {
    let width = PublishedProperty(1)
    let height = PublishedProperty(2)
    together { set in
      set(width, to: 4)
      set(height, to: 3)
    }
    #expect(width.value == 4 && height.value == 3)
    width.value = 1
    height.value = 2

    let size = combineLatest(width.publisher, height.publisher)
    let recorder = Recorder(size.map { [$0, $1] })
    do {
      let size = combineLatest(width.publisher, height.publisher)
      together { set in
        set(width, to: 4)
        set(height, to: 3)
      }  // `size` emits (4, 3), and never (4, 2)
      #expect(size.current()?.1 == 3)
    }
    #expect(recorder.updates == [[1, 2], [4, 3]])
  }

  @Test func `a task source finishes its task`() {
    let print: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let source = TaskSource<Int, Never>()
    let subscription = source.publisher.subscribe(success: { print($0) })
    source.finish(.success(42))  // prints 42, for late subscribers as well
    #expect(paper.lines == ["42"])
    subscription.invalidate()
  }

  @Test func `a clock emits ticks`() {
    let print: @Sendable (Duration) -> Void = { paper.print("\($0)") }
    let subscription = clock.broadcaster(every: .seconds(1)).subscribe { print($0) }
    clock.advance(by: .seconds(2))
    #expect(paper.lines.count == 2)
    subscription.invalidate()
  }

  @Test func `a broadcaster starts a timer for each subscriber, or for all`() {
    do {
      let ticks = Broadcaster<Date> { receive in
        let timer = start(every: 1) { receive(Date()) }
        return Subscription { timer.stop() }
      }
      let recorders = [Recorder(ticks), Recorder(ticks)]
      #expect(Ticking.beats.subscriberCount == 2)
      for recorder in recorders { recorder.invalidate() }
    }
    do {
      let ticks = Broadcaster<Date> { receive in
        let timer = start(every: 1) { receive(Date()) }
        return Subscription { timer.stop() }
      }.share()
      expectOneStart(of: ticks)
    }
    let ticks = Broadcaster<Date>.shared { receive in
      let timer = start(every: 1) { receive(Date()) }
      return Subscription { timer.stop() }
    }
    expectOneStart(of: ticks)
  }

  private func expectOneStart(of ticks: Broadcaster<Date>) {
    let recorders = [Recorder(ticks), Recorder(ticks)]
    #expect(Ticking.beats.subscriberCount == 1)
    Ticking.beats.broadcast(Date())
    #expect(recorders.allSatisfy { $0.updates.count == 1 })
    for recorder in recorders { recorder.invalidate() }
    #expect(Ticking.beats.subscriberCount == 0)
  }

  @Test func `a bag retains a subscription`() {
    let print: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let source = BroadcastSource<Int>()
    let publisher = source.publisher
    let bag = SubscriptionBag()
    publisher.subscribe { print($0) }.store(in: bag)
    source.broadcast(1)
    #expect(paper.lines == ["1"])
  }

  @Test func `withSubscription subscribes for the duration of a closure`() async {
    let print = paper.print
    let progress = BroadcastSource<Int>()
    let load: @Sendable () -> Void = { progress.broadcast(50) }
    let loadSlowly: @Sendable () async -> Void = { progress.broadcast(100) }

    withSubscription(progress.publisher, { print("\($0) %") }, while: { load() })
    await withSubscription(progress.publisher, { print("\($0) %") }, while: { await loadSlowly() })
    progress.broadcast(0)
    #expect(paper.lines == ["50 %", "100 %"])
  }

  @MainActor
  @Test func `a label follows a thermostat`() {
    let label = Label()
    let thermostat = (temperature: PublishedProperty(20).publisher, ())
    let subscription = thermostat.temperature.subscribeOnMain { label.text = "\($0) °C" }
    #expect(label.text == "20 °C")
    subscription.invalidate()
  }

  @Test func `a loop receives the latest value`() async {
    actor Display {
      var shown: [Double] = []

      func show(_ temperature: Double) { shown.append(temperature) }
    }
    let measured = PublishedProperty(19.5)
    let thermostat = (temperature: measured.publisher, ())
    let display = Display()
    measured.end()
    for await temperature in thermostat.temperature.values(.bufferingNewest(1)) {
      await display.show(temperature)
    }
    #expect(await display.shown == [19.5])
  }

  @Test func `an asynchronous callback shows each temperature`() async {
    actor Display {
      var shown: [Double] = []

      func show(_ temperature: Double) { shown.append(temperature) }
    }
    let measured = PublishedProperty(19.5)
    let thermostat = (temperature: measured.publisher, ())
    let display = Display()
    let subscription = thermostat.temperature.subscribe(.bufferingNewest(1)) { temperature in
      await display.show(temperature)
    }
    await subscription.drained()
    #expect(await display.shown == [19.5])
  }

  @Test func `ended waits for the end of the source`() async {
    let progress = PublishedProperty(100)
    let ending = Task {
      while progress.subscriberCount == 0 { await Task.yield() }
      progress.end()
    }
    await progress.publisher.subscribe { print("\($0) %") }.ended
    await ending.value
    #expect(progress.subscriberCount == 0)
  }

  @Test func `invalidate cancels the sequence of an ended loop`() async {
    let measured = PublishedProperty(95.0)
    let thermostat = (temperature: measured.publisher, ())
    let temperatures = thermostat.temperature.values(.bufferingNewest(100))
    for await temperature in temperatures {
      if temperature > 90 { break }
    }
    temperatures.invalidate()
    measured.value = 96
    #expect(temperatures.bufferedCount == 0)
  }

  @Test func `an instrument counts drops, another prints events`() {
    let counter = Counter()
    let source = BroadcastSource<Int>(name: "numbers", instrument: counter)
    let values = source.publisher.values(.bufferingNewest(1))
    for number in 1...3 { source.broadcast(number) }
    #expect(counter.dropped.value == 2)
    withExtendedLifetime(values) {}

    let numbers = BroadcastSource<Int>(name: "numbers", instrument: PrintingInstrument())
    #expect(numbers.subscriberCount == 0)
  }

  @Test func `a place prints as compilers write it`() {
    let print: @Sendable (CodePlace) -> Void = { paper.print("\($0)") }
    let here = CodePlace(fileID: #fileID, line: #line)
    print(here)  // prints Kitchen/Oven.swift:12
    #expect(paper.lines[0].hasPrefix("SampleTests/SourceCommentSamples.swift:"))
  }

  @Test func `the default graph shows the sources of the process`() async {
    await #expect(processExitsWith: .success) {
      let graph = LiveGraph()
      setDefaultInstrument(graph)
      // … the program runs …
      print(graph.tree())
    }
  }

  @Test func `a resource loads its value`() async throws {
    let clock = ManualClock()
    @Sendable func fetchKeys() async throws -> [String] { ["a"] }
    let keys = Resource(staleAfter: .seconds(600), clock: clock) { try await fetchKeys() }
    let current = try await keys.value()
    #expect(current == ["a"])
  }

  @Test func `a family loads a value for each key`() async throws {
    struct User: Sendable {
      typealias ID = Int
      let name: String
    }
    let clock = ManualClock()
    @Sendable func load(_ id: User.ID) async throws -> User { User(name: "user \(id)") }
    let users = ResourceFamily(staleAfter: .seconds(60), clock: clock) { (id: User.ID) in
      try await load(id)
    }
    let name = users[7].publisher.map { $0.value?.name ?? "…" }
    let names = Recorder(name)
    #expect(await names.next(2) == ["…", "user 7"])
  }

  enum RequestID {
    @TaskLocal static var current = 0
  }

  @Test func `a delayed update keeps the task-local value of its sender`() async {
    await #expect(processExitsWith: .success) {
      Context.carry(RequestID.$current)
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let seen = Recorder(
        source.publisher.delay(for: .seconds(1), clock: clock).map { _ in RequestID.current })
      RequestID.$current.withValue(7) { source.broadcast(1) }
      await clock.advance(by: .seconds(1))
      #expect(seen.updates == [7])
    }
  }
}

import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct InstrumentTests {
  @Test func `a source reports subscriptions, deliveries, cancellations, and its end`() {
    let log = EventLog()
    let source = BroadcastSource<Int>(name: "numbers", instrument: log)
    let place = #line - 1

    let subscription = source.publisher.subscribe { _ in }
    source.broadcast(1)
    subscription.invalidate()
    source.broadcast(2)
    source.end()

    #expect(
      log.lines == [
        "numbers subscribed", "numbers delivered", "numbers unsubscribed", "numbers sourceFinished",
      ])
    #expect(log.all.allSatisfy { $0.place?.line == place && $0.origin == log.all[0].origin })
    #expect(log.all[0].place?.fileID == #fileID)
    #expect(log.all[0].subscriber?.line == place + 3)
    #expect(Set(log.all[0...2].map(\.subscription)).count == 1)
    #expect(log.all[0].subscription != nil && log.all[3].subscription == nil)
  }

  @Test func `a source without a name reports under the name of its type`() {
    let log = EventLog()
    let results = withInstrument(log) {
      let property = PublishedProperty(0)
      let task = TaskSource<Int, Never>(name: "task")
      let progress = ProgressiveTaskSource<Int, Int, Never>(name: "progress")
      let recorders = (
        Recorder(property.publisher), Recorder(task.publisher), Recorder(progress.publisher)
      )
      task.finish(.success(1))
      progress.report(1)
      return recorders
    }

    withExtendedLifetime(results) {
      #expect(
        log.lines.sorted() == [
          "PublishedProperty<Int> delivered", "PublishedProperty<Int> sourceFinished",
          "PublishedProperty<Int> subscribed", "PublishedProperty<Int> unsubscribed",
          "progress delivered", "progress sourceFinished", "progress subscribed",
          "progress unsubscribed",
          "task delivered", "task sourceFinished", "task subscribed", "task unsubscribed",
        ])
    }
  }

  @Test func `a wrapped property has a name and a place`() {
    struct Model {
      @PublishedProperty(name: "count", instrument: InstrumentTests.wrapped) var count = 1
    }

    let model = Model()
    let recorder = Recorder(model.$count)
    model.count = 2

    #expect(recorder.updates == [1, 2])
    #expect(
      InstrumentTests.wrapped.lines == ["count subscribed", "count delivered", "count delivered"])
  }

  private static let wrapped = EventLog()

  @Test func `trace reports any publisher and preserves its kind and its value`() {
    let log = EventLog()
    let property = PublishedProperty(1)
    let task = TaskSource<Int, Never>()

    let (traced, work) = withInstrument(log) {
      (property.publisher.map { $0 * 2 }.trace("twice"), task.publisher.trace("task"))
    }
    let value: PublishedValue<Int> = traced
    let recorder = Recorder(value)
    let result = Recorder(work)
    property.value = 2
    task.finish(.success(3))

    #expect(value.current() == 4)
    #expect(recorder.updates == [2, 4] && result.updates == [.success(3)])
    #expect(
      log.lines == [
        "twice subscribed", "twice delivered", "task subscribed", "twice delivered",
        "task delivered", "task unsubscribed",
      ])
  }

  @Test func `every trace between source and subscriber reports the same subscription number`() {
    let log = EventLog()
    withInstrument(log) {
      let source = BroadcastSource<Int>(name: "source")
      let traced = source.publisher.map { $0 }.trace("a").filter { _ in true }.trace("b")
      let recorders = [Recorder(traced), Recorder(traced)]
      withExtendedLifetime(recorders) { source.broadcast(1) }
    }

    let numbers = Dictionary(
      grouping: log.all.filter { $0.subscription != nil }, by: \.subscription)
    #expect(numbers.count == 2)
    #expect(numbers.values.allSatisfy { Set($0.map(\.label)) == ["a", "b", "source"] })
    #expect(numbers.values.allSatisfy { Set($0.map(\.subscriber)).count == 1 })
  }

  @Test func `without an instrument, trace returns the publisher itself`() {
    let source = BroadcastSource<Int>(name: "source")
    let publisher = source.publisher.map { $0 }
    let traced = publisher.trace("trace")

    #expect(source.publisher.lineage == nil && publisher.lineage == nil)
    // The closure that connects it is the first property.
    let isSame = unsafe withUnsafeBytes(of: publisher) { one in
      unsafe withUnsafeBytes(of: traced) { other in
        unsafe one.prefix(16).elementsEqual(other.prefix(16))
      }
    }
    #expect(isSame)
  }

  @Test func `an update sent to a finished source is reported as dropped`() {
    let log = EventLog()
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let task = TaskSource<Int, Never>(name: "task", instrument: log)
    let progress = ProgressiveTaskSource<Int, Int, Never>(name: "progress", instrument: log)
    let property = PublishedProperty(1, name: "property", instrument: log)

    source.broadcast(1)
    source.end()
    source.broadcast(2)
    task.finish(.success(1))
    task.finish(.success(2))
    progress.finish(.success(1))
    progress.report(2)
    property.end()
    property.value = 2

    #expect(
      log.lines == [
        "source sourceFinished", "source dropped(1)", "task sourceFinished", "task dropped(1)",
        "progress sourceFinished", "progress dropped(1)", "property sourceFinished",
      ])
    #expect(property.value == 2)
  }

  @Test func `the source reports the updates that the buffer of a loop drops`()
    async
  {
    let log = EventLog()
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let other = BroadcastSource<Int>(name: "other", instrument: log)
    let line = #line + 1
    let mapped = source.publisher.map { $0 }.values(.bufferingNewest(2))
    let merged = merge(source.publisher, other.publisher).values(.bufferingOldest(2))

    for number in 1...4 { source.broadcast(number) }
    source.end()
    var seen: [Int] = []
    for await number in mapped { seen.append(number) }

    #expect(seen == [3, 4])
    let dropped = log.all.filter { $0.kind == .dropped(1) }
    #expect(dropped.map(\.label) == ["source", "merge", "source", "merge"])
    #expect(dropped.map(\.source) == ["source", "source, other", "source", "source, other"])
    #expect(dropped.allSatisfy { $0.operation == "values" })
    #expect(dropped.map { $0.subscriber?.line } == [line, line + 1, line, line + 1])
    #expect(mapped.droppedCount == 2 && merged.droppedCount == 2)
  }

  @Test func `a backlog is reported at its limit and each time it doubles`() {
    let log = EventLog(backlogLimit: 3)
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let property = PublishedProperty(0, name: "property", instrument: log)
    let recorder = Recorder(source.publisher) { number in
      if number == 0 { for next in 1...13 { source.broadcast(next) } }
    }
    let values = Recorder(property.publisher) { number in
      if number == 1 {
        for next in 2...4 { property.value = next }
        property.modify { $0 += 1 }
      }
    }

    source.broadcast(0)
    source.broadcast(0)
    property.value = 1

    #expect(recorder.updates.count == 28 && values.updates == [0, 1, 2, 3, 4, 5])
    let backlogs = log.all.compactMap { event -> Int? in
      if case .backlog(let depth) = event.kind { depth } else { nil }
    }
    #expect(backlogs == [3, 6, 12, 3, 6, 12, 3])
  }

  @Test func `a buffer at its limit is reported once, until half of it is empty`() async {
    let log = EventLog(backlogLimit: 4)
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let values = source.publisher.values(.bufferingNewest(8))
    var iterator = values.makeAsyncIterator()
    for number in 1...4 { source.broadcast(number) }
    for number in 5...100 {
      _ = await iterator.next()
      source.broadcast(number)
    }
    func reports() -> Int {
      log.all.count { if case .backlog = $0.kind { true } else { false } }
    }
    #expect(reports() == 1)

    for _ in 1...4 { _ = await iterator.next() }
    for number in 1...4 { source.broadcast(number) }
    #expect(reports() == 2)
    withExtendedLifetime(values) {}
  }

  @Test func `an event names the sources and the operator, even behind a trace and a join`() {
    let log = EventLog(backlogLimit: 1)
    let first = BroadcastSource<Int>(name: "first", instrument: log)
    let second = BroadcastSource<Int>(name: "second", instrument: log)
    let traced = first.publisher.trace("traced", instrument: log)
    let subscriptions = withExtendedLifetime(log) {
      (
        merge(traced, second.publisher).values(.bufferingNewest(1)),
        traced.map { $0 }.values(.bufferingNewest(1))
      )
    }

    first.broadcast(1)

    let backlogs = log.all.filter { $0.kind == .backlog(1) }
    #expect(backlogs.map(\.label) == ["merge", "traced"])
    #expect(backlogs.map(\.source) == ["first, second", "first"])
    #expect(
      backlogs.first?.description.hasPrefix("merge of first, second, values: 1 pending") == true)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `an instrument may send, subscribe, and cancel while it records`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let other = BroadcastSource<String>()
      let bag = SubscriptionBag()
      let received = Recorder(other.publisher)
      let subscription = Shared<Subscription?>(nil)
      let source = Shared<BroadcastSource<Int>?>(nil)
      let log = EventLog { event in
        other.broadcast("\(event.kind)")
        guard let watched = source.value else { return }
        if event.kind == .subscribed, bag.count == 0, received.updates.count == 1 {
          watched.publisher.subscribe { _ in }.store(in: bag)
        }
        if event.kind == .delivered, watched.subscriberCount < 4 {
          subscription.value?.invalidate()
          if watched.subscriberCount > 0 { watched.end() } else { watched.broadcast(7) }
        }
      }
      source.value = BroadcastSource<Int>(name: "source", instrument: log)
      subscription.value = source.value?.publisher.subscribe { _ in }
      source.value?.broadcast(1)
      precondition(received.updates.filter { $0 == "subscribed" }.count == 2)
      precondition(received.updates.filter { $0 == "unsubscribed" }.count == 2)
      precondition(received.updates.filter { $0 == "sourceFinished" }.count == 1)
      bag.invalidate()
      source.value = nil
      subscription.value = nil
    }
  }

  @Test func `R6 a subscription that the instrument cancels receives no further update`() {
    let subscription = Shared<Subscription?>(nil)
    let log = EventLog { if $0.kind == .delivered { subscription.value?.invalidate() } }
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let calls = Shared<[Bool?]>([])

    subscription.value = source.publisher.trace("trace", instrument: log).subscribe { _ in
      calls.change { $0.append(subscription.value?.isSubscribed) }
    }
    source.broadcast(1)
    source.broadcast(2)

    #expect(calls.value == [true])
    #expect(source.subscriberCount == 0)
    subscription.value = nil
  }

  @Test func `R11 a watched callback is released before invalidate returns`() {
    let log = EventLog(graph: LiveGraph())
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let released = Shared(0)
    let witness = Witness { released.increment() }
    let subscription = source.publisher.map { $0 }.trace("t", instrument: log).subscribe {
      [witness] _ in witness.touch()
    }
    _ = consume witness

    subscription.invalidate()

    #expect(released.value == 1)
    #expect(log.count(.unsubscribed) == 2)
  }

  @Test(arguments: 0..<8) func `instruments of concurrent tests are isolated`(index: Int) async {
    let log = EventLog()
    await withInstrument(log) {
      for round in 0..<50 {
        let source = BroadcastSource<Int>(name: "\(index)")
        await Task { source.broadcast(round) }.value
        let inner = await Task { PublishedProperty(0, name: "\(index)") }.value
        _ = Recorder(inner.publisher)
      }
    }

    // A task releases its captures after it has published its value.
    await until { log.all.count >= 50 * 5 }
    #expect(log.all.count == 50 * 5)
    #expect(log.all.allSatisfy { $0.label == "\(index)" })
    #expect(BroadcastSource<Int>(name: "after").publisher.lineage == nil)
  }

  @Test
  func `an explicit instrument takes precedence over the task and the process`()
    async
  {
    await #expect(processExitsWith: .success) {
      let (ofProcess, ofTask, given) = (EventLog(), EventLog(), EventLog())
      let before = BroadcastSource<Int>(name: "before")
      setDefaultInstrument(ofProcess)
      before.end()
      BroadcastSource<Int>(name: "a").end()
      withInstrument(ofTask) {
        BroadcastSource<Int>(name: "b").end()
        BroadcastSource<Int>(name: "c", instrument: given).end()
      }
      await Task.detached { BroadcastSource<Int>(name: "d").end() }.value
      precondition(ofProcess.lines == ["a sourceFinished", "d sourceFinished"])
      precondition(ofTask.lines == ["b sourceFinished"])
      precondition(given.lines == ["c sourceFinished"])
    }
  }

  @Test func `the printing instrument prints one line per event`() {
    let lines = Shared<[String]>([])
    let printing = PrintingInstrument(backlogLimit: 1) { line in lines.change { $0.append(line) } }
    let source = BroadcastSource<Int>(
      name: "source", instrument: printing, fileID: "App/Source.swift", line: 1)
    let subscription = source.publisher.subscribe(
      { if $0 == 1 { source.broadcast(2) } }, fileID: "App/Main.swift", line: 2)
    source.broadcast(1)
    subscription.invalidate()
    source.end()
    source.broadcast(3)

    let number = lines.value[0].drop { $0 != "#" }.prefix { $0 != "," }
    #expect(
      lines.value == [
        "source: subscribed by \(number), App/Main.swift:2",
        "source: 1 pending, App/Source.swift:1",
        "source: delivered to \(number), App/Main.swift:2",
        "source: delivered to \(number), App/Main.swift:2",
        "source: unsubscribed for \(number), App/Main.swift:2",
        "source: finished, App/Source.swift:1",
        "source: dropped 1, App/Source.swift:1",
      ])
    #expect(printing.graph == nil && printing.backlogLimit == 1)
  }

  @Test func `events of two threads are complete`() async {
    let graph = LiveGraph()
    let log = EventLog(graph: graph, backlogLimit: .max)
    let source = BroadcastSource<Int>(name: "source", instrument: log)
    let count = scaled(2_000)
    let calls = Shared(0)
    let subscription = source.publisher.map { $0 }.trace("t", instrument: log).subscribe { _ in
      calls.increment()
    }

    onThreads(2) { index in
      for number in 0..<count {
        source.broadcast(number)
        if number % 50 == 0 {
          source.publisher.filter { _ in false }.subscribe { _ in }.invalidate()
          _ = graph.snapshot()
        }
      }
    }
    let living = graph.snapshot().nodes.filter { $0.role == .subscription }
    await subscription.invalidateAndWait()

    #expect(living.count == 1)
    #expect(log.all.count { $0.kind == .delivered && $0.label == "t" } == calls.value)
    #expect(log.count(.subscribed) == log.count(.unsubscribed))
    #expect(graph.snapshot().nodes.map(\.name) == ["source"])
  }
}

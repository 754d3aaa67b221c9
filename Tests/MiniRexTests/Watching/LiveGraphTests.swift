import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRex

@Suite(.light) struct LiveGraphTests {
  let clock = ManualClock()
  let graph: LiveGraph

  init() {
    graph = LiveGraph(clock: clock)
  }

  func source(_ name: String, line: Int = 1) -> BroadcastSource<Int> {
    BroadcastSource(name: name, instrument: graph, fileID: "App/Main.swift", line: line)
  }

  func subscribe<Kind>(_ publisher: Publisher<Int, Kind>, line: Int = 9) -> Subscription {
    publisher.subscribe({ _ in }, fileID: "App/Main.swift", line: line)
  }
}

extension LiveGraphTests {
  @Test func `a computed value of sources with their own instrument is drawn`() {
    let count = PublishedProperty(
      1, name: "count", instrument: graph, fileID: "App/Main.swift", line: 1)
    let double = PublishedValue.computed(
      name: "double", instrument: graph, fileID: "App/Main.swift", line: 2
    ) { read in 2 * read(count) }
    let subscription = subscribe(double)

    let names = graph.snapshot().nodes.map(\.name)

    #expect(names == ["count", "double", "subscribe"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a node counts the subscribers of its source`() {
    let count = PublishedProperty(1, name: "count", instrument: graph)
    let double = PublishedValue.computed(name: "double", instrument: graph) { read in
      2 * read(count)
    }
    let subscriptions = [
      subscribe(double), subscribe(double), subscribe(count.publisher),
      subscribe(combineLatest(count.publisher, double).map { $0 + $1 }),
    ]

    #expect(graph.snapshot().nodes.first?.subscriberCount == count.subscriberCount)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `a computed value is drawn with its present dependencies and its runs`() {
    withInstrument(graph) {
      let flag = PublishedProperty(true, name: "flag", fileID: "App/Main.swift", line: 1)
      let first = PublishedProperty(1, name: "first", fileID: "App/Main.swift", line: 2)
      let last = PublishedProperty(2, name: "last", fileID: "App/Main.swift", line: 3)
      let chosen = PublishedValue.computed(name: "chosen", fileID: "App/Main.swift", line: 4) {
        read in read(flag) ? read(first) : read(last)
      }
      let subscription = subscribe(chosen)
      func inputs() -> [String] {
        let snapshot = graph.snapshot()
        let names = Dictionary(uniqueKeysWithValues: snapshot.nodes.map { ($0.id, $0.name) })
        return snapshot.edges.filter { names[$0.to] == "chosen" && $0.isActive }
          .compactMap { names[$0.from] }
      }
      #expect(inputs() == ["flag", "first"])
      flag.value = false
      #expect(inputs() == ["flag", "last"])
      let node = graph.snapshot().nodes.first { $0.name == "chosen" }
      #expect(node?.runCount == 2)
      #expect(node?.runTime ?? .zero > .zero)
      #expect(graph.tree().contains("chosen, App/Main.swift:4, 2 runs, "))
      subscription.invalidate()
    }
  }

  @Test func `a resource is a source with its loads, its failures, and its age`() async {
    let backend = Backend()
    let manual = ManualClock()
    let resource = Resource<Int, any Error>(
      retries: 1, retryDelay: .constant(.zero), clock: manual, name: "keys", instrument: graph,
      fileID: "App/Main.swift", line: 4
    ) { try await backend.load() }
    backend.fail(1)
    backend.answer(2, 1)
    let subscription = resource.publisher.subscribe { _ in }
    await until { resource.state.value == 1 }
    await manual.advance(by: .seconds(12))

    let node = graph.snapshot().nodes.first { $0.name == "keys" }
    #expect(node?.loadCount == 2)
    #expect(node?.failureCount == 1)
    #expect(node?.age == .seconds(12))
    #expect(
      graph.tree().contains(
        "keys, App/Main.swift:4, 1 subscriber, 2 loads, 1 failed, 12.0 s old"))
    subscription.invalidate()
  }

  @Test func `a chain is drawn with names, places, counts, and rates`() {
    let numbers = source("numbers")
    let subscription = subscribe(
      numbers.publisher.map { $0 }.filter { $0 > 1 }.trace(
        "large", instrument: graph, fileID: "App/Main.swift", line: 4))
    for number in 1...4 { numbers.broadcast(number) }
    clock.advance(by: .seconds(2))

    let first = graph.tree()
    numbers.broadcast(5)
    clock.advance(by: .seconds(1))
    let second = graph.tree()

    withExtendedLifetime(subscription) {
      #expect(
        first == """
          numbers, App/Main.swift:1, 1 subscriber
          └─ 4, 2.0/s → map
             └─ → filter
                └─ 3, 1.5/s → large, App/Main.swift:4
                   └─ 3, 1.5/s → subscribe, App/Main.swift:9

          """)
      #expect(second.contains("└─ 5, 1.0/s → map"))
      #expect(second.contains("└─ 4, 1.0/s → subscribe"))
    }
  }

  @Test func `a diamond is drawn with one shared node`() {
    let property = PublishedProperty(
      1, name: "size", instrument: graph, fileID: "App/Main.swift", line: 1)
    let size = property.publisher
    let both = combineLatest(size.map { $0 * 2 }, size.map { $0 + 1 }, transform: +)
    let subscription = subscribe(both)
    property.value = 2

    withExtendedLifetime(subscription) {
      #expect(
        graph.tree() == """
          size, App/Main.swift:1, 2 subscribers
          ├─ 2 → map
          │  └─ 2 → combineLatest
          │     └─ 2 → subscribe, App/Main.swift:9
          └─ 2 → map
             └─ 2 → combineLatest, see above

          """)
      #expect(
        graph.mermaid() == """
          flowchart LR
            n1(["<b>size</b><br/><small>App/Main.swift:1</small><br/><small>2 subscribers</small>"])
            n2("<b>map</b>")
            n3("<b>map</b>")
            n4("<b>combineLatest</b>")
            n5["<b>subscribe</b><br/><small>App/Main.swift:9</small>"]
            n1 -->|"2"| n2
            n1 -->|"2"| n3
            n2 -->|"2"| n4
            n3 -->|"2"| n4
            n4 -->|"2"| n5

          """)
    }
  }

  @Test func `dot draws a merge of two sources with escaped labels`() {
    let left = source("a<b> & \"c\"")
    let right = source("right", line: 2)
    let merged = merge(left.publisher, right.publisher)
    let subscriptions = (0..<3).map { _ in subscribe(merged) }
    let idle = right.publisher.filter { $0 > 0 }
    left.broadcast(1)

    withExtendedLifetime((subscriptions, idle)) {
      #expect(
        graph.dot() == """
          digraph MiniRex {
            rankdir=LR
            node [fontname="Helvetica", fontsize=12, color="#555555"]
            edge [fontname="Helvetica", fontsize=10, color="#555555", fontcolor="#555555"]
            n1 [shape=ellipse, style=filled, fillcolor="#d6e8ff", label=<<b>a&lt;b&gt; &amp; \
          &quot;c&quot;</b><br/><font point-size="9" color="#888888">App/Main.swift:1</font><br/>\
          <font point-size="9" color="#888888">3 subscribers</font>>]
            n2 [shape=ellipse, style=filled, fillcolor="#d6e8ff", label=<<b>right</b><br/>\
          <font point-size="9" color="#888888">App/Main.swift:2</font><br/>\
          <font point-size="9" color="#888888">3 subscribers</font>>]
            n3 [shape=box, style="rounded,filled", fillcolor="#ffffff", label=<<b>merge</b>>]
            n4 [shape=box, style=filled, fillcolor="#dcf3dc", label=<<b>subscribe</b><br/>\
          <font point-size="9" color="#888888">App/Main.swift:9</font><br/>\
          <font point-size="9" color="#888888">× 3</font>>]
            n5 [shape=box, style="rounded,filled", fillcolor="#ffffff", label=<<b>filter</b>>]
            n1 -> n3 [label="3"]
            n2 -> n3 [label="0"]
            n3 -> n4 [label="3"]
            n2 -> n5 [style=dashed, color="#bbbbbb"]
          }

          """)
    }
  }

  @Test func `an inner task of flatMap is drawn while it runs`() {
    let first = TaskSource<Int, Never>(
      name: "first", instrument: graph, fileID: "App/Main.swift", line: 1)
    let second = TaskSource<Int, Never>(
      name: "second", instrument: graph, fileID: "App/Main.swift", line: 2)
    let then = first.publisher.flatMap { _ in second.publisher.map { $0 } }
    let subscription = then.subscribe({ _ in }, fileID: "App/Main.swift", line: 9)
    let before = graph.tree()
    first.finish(.success(1))
    let during = graph.tree()
    second.finish(.success(2))

    withExtendedLifetime(subscription) {
      #expect(
        before == """
          first, App/Main.swift:1, 1 subscriber
          └─ 0 → flatMap
             └─ 0 → subscribe, App/Main.swift:9
          second, App/Main.swift:2, 0 subscribers

          """)
      #expect(
        during == """
          second, App/Main.swift:2, 1 subscriber
          └─ 0 → map
             └─ 0 → flatMap
                └─ 0 → subscribe, App/Main.swift:9

          """)
      #expect(graph.snapshot() == LiveGraph().snapshot())
    }
  }

  @Test func `the inner publisher of flatMapLatest is drawn at switchToLatest`() {
    let outer = PublishedProperty(
      1, name: "outer", instrument: graph, fileID: "App/Main.swift", line: 1)
    let inner = PublishedProperty(
      2, name: "inner", instrument: graph, fileID: "App/Main.swift", line: 2)
    let subscription = subscribe(
      outer.publisher.flatMapLatest { _ in inner.publisher }.map { $0 + 1 }.filter { $0 > 0 })

    withExtendedLifetime(subscription) {
      #expect(
        graph.tree() == """
          outer, App/Main.swift:1, 1 subscriber
          └─ 1 → map
             └─ 1 → switchToLatest
                └─ → map
                   └─ → filter
                      └─ 1 → subscribe, App/Main.swift:9
          inner, App/Main.swift:2, 1 subscriber
          └─ 1 → switchToLatest, see above

          """)
    }
  }

  @Test func `a finished inner task of flatMap is released`() {
    let first = TaskSource<Int, Never>(name: "first", instrument: graph)
    let second = TaskSource<Int, Never>(name: "second", instrument: graph)
    let inner = Shared<Weak?>(nil)
    let then = first.publisher.flatMap { _ in
      let task = second.publisher.map { $0 }
      inner.value = Weak(task.lineage)
      return task
    }
    let subscription = then.subscribe { _ in }
    first.finish(.success(1))
    #expect(inner.value?.lineage != nil)
    second.finish(.success(2))

    withExtendedLifetime((then, subscription)) { #expect(inner.value?.lineage == nil) }
  }

  @Test func `a cycle is drawn once`() {
    func node(_ id: Int, _ name: String) -> LiveGraph.Node {
      LiveGraph.Node(
        id: id, role: .operation, name: name, place: nil, subscriberCount: nil, pendingUpdates: 0,
        runCount: nil, runTime: nil)
    }
    func edge(from: Int, to: Int, count: Int? = nil, rate: Double? = nil) -> LiveGraph.Edge {
      LiveGraph.Edge(
        from: from, to: to, isActive: true, updateCount: count, updatesPerSecond: rate,
        pendingUpdates: 0, stall: nil)
    }
    let snapshot = LiveGraph.Snapshot(
      nodes: [node(1, "switch"), node(2, "map")],
      edges: [edge(from: 2, to: 1, count: 1, rate: 250.4), edge(from: 1, to: 2)])

    #expect(
      snapshot.tree() == """
        switch
        └─ → map
           └─ 1, 250/s → switch, see above

        """)
  }

  @Test func `an operator that subscribes on creation is drawn as a subscriber`() {
    let numbers = source("numbers")
    let latest = numbers.publisher.publishedValue(initial: 0)
    numbers.broadcast(1)

    withExtendedLifetime(latest) {
      #expect(
        graph.tree() == """
          numbers, App/Main.swift:1, 1 subscriber
          └─ 1 → publishedValue

          """)
    }
  }

  @Test func `every form of subscribe has a name and a place`() async {
    let numbers = source("numbers")
    let publisher = numbers.publisher
    let owner = Thing()
    let bag = SubscriptionBag()
    let actor = Counting()
    await MainActor.run {
      publisher.subscribeOnMain { _ in }.store(in: bag)
      publisher.subscribeOnMain(weakly: owner) { _, _ in }.store(in: bag)
    }
    publisher.subscribe(isolatedTo: actor) { _, _ in }.store(in: bag)
    publisher.subscribe(weakly: owner) { _, _ in }.store(in: bag)
    publisher.subscribe({ _ in }, onEnd: {}).store(in: bag)
    publisher.subscribeOnce { _ in }
    let values = publisher.values(.unbounded)
    let last = #line - 1
    let inside = withSubscription(publisher, { _ in }) { graph.snapshot() }

    withExtendedLifetime((values, owner)) {
      let nodes = inside.nodes.filter { $0.role == .subscription }
      #expect(
        nodes.map(\.name) == [
          "subscribeOnMain", "subscribeOnMain", "subscribe", "subscribe", "subscribe",
          "subscribeOnce", "values", "withSubscription",
        ])
      #expect(nodes.allSatisfy { $0.place?.fileID == #fileID })
      #expect(nodes.suffix(3).map { $0.place?.line } == [last - 1, last, last + 2])
    }
    bag.invalidate()
    #expect(
      graph.snapshot().nodes.filter { $0.role == .subscription }.map(\.name) == [
        "subscribeOnce", "values",
      ])
  }

  @Test func `the graph retains nothing and removes finished nodes`() {
    weak let released: Lineage?
    do {
      let numbers = source("numbers")
      let subscription = subscribe(numbers.publisher.map { $0 }.trace("trace", instrument: graph))
      released = numbers.publisher.lineage
      #expect(graph.snapshot().nodes.count == 4)
      withExtendedLifetime(subscription) { numbers.end() }
      #expect(graph.snapshot().nodes.isEmpty)
    }
    #expect(released == nil)
    #expect(graph.tree() == "")
    #expect(graph.graph === graph)
  }

  @Test func `updates queued for a delivery or a loop are drawn`() async {
    let numbers = source("numbers")
    let trees = Shared<[String]>([])
    let graph = graph
    let subscription = numbers.publisher.subscribe(
      {
        if $0 != 1 { return }
        numbers.broadcast(2)
        numbers.broadcast(3)
        trees.append(graph.tree())
      }, fileID: "App/Main.swift", line: 9)
    var values = Optional(
      numbers.publisher.values(.unbounded, fileID: "App/Main.swift", line: 5))
    numbers.broadcast(1)
    trees.append(graph.tree())
    if let values { for await _ in values { break } }
    let waiting = graph.snapshot()
    values = nil
    trees.append(graph.tree())

    withExtendedLifetime(subscription) {
      #expect(trees.value[0].hasPrefix("numbers, App/Main.swift:1, 2 subscribers, 2 pending\n"))
      #expect(trees.value[1].hasPrefix("numbers, App/Main.swift:1, 2 subscribers\n"))
      #expect(trees.value[1].contains("3, 3 pending → values, App/Main.swift:5\n"))
      #expect(!trees.value[2].contains("pending"))
    }
    #expect(waiting.nodes.map(\.pendingUpdates) == [0, 0, 0])
    #expect(waiting.edges.map(\.pendingUpdates).contains(3) == false)
  }

  @Test func `a source that a callback sends to is not connected to its sender`() {
    let one = source("one")
    let other = source("other", line: 2)
    let subscription = one.publisher.subscribe(
      { other.broadcast($0) }, fileID: "App/Main.swift", line: 3)
    one.broadcast(1)

    withExtendedLifetime(subscription) {
      #expect(
        graph.tree() == """
          one, App/Main.swift:1, 1 subscriber
          └─ 1 → subscribe, App/Main.swift:3
          other, App/Main.swift:2, 0 subscribers

          """)
    }
  }

  @Test func `a callback that subscribes to another source is not drawn as an operator`() {
    let numbers = source("numbers")
    let other = source("other", line: 2)
    let bag = SubscriptionBag()
    let custom = Broadcaster<Int> { receive in
      other.publisher.subscribe(receive, fileID: "App/Main.swift", line: 4)
    }
    let size = PublishedProperty(
      1, name: "size", instrument: graph, fileID: "App/Main.swift", line: 3)
    size.publisher.map { $0 }.subscribe(
      { _ in
        numbers.publisher.subscribe({ _ in }, fileID: "App/Main.swift", line: 5).store(in: bag)
        custom.subscribe({ _ in }).store(in: bag)
      }, fileID: "App/Main.swift", line: 6
    ).store(in: bag)

    #expect(
      graph.tree() == """
        numbers, App/Main.swift:1, 1 subscriber
        └─ 0 → subscribe, App/Main.swift:5
        other, App/Main.swift:2, 1 subscriber
        └─ 0 → subscribe, App/Main.swift:4
        size, App/Main.swift:3, 1 subscriber
        └─ 1 → map
           └─ 1 → subscribe, App/Main.swift:6

        """)
    bag.invalidate()
  }
}

private final class Weak: Sendable {
  weak let lineage: Lineage?

  init(_ lineage: Lineage?) { self.lineage = lineage }
}

private actor Counting {}

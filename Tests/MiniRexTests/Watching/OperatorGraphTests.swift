import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The path of each operator from its sources to a subscriber.
@Suite(.light) struct OperatorGraphTests {
  private let graph = LiveGraph()
  private let clock = ManualClock()
  private let numbers: BroadcastSource<Int>
  private let size: PublishedProperty<Int>
  private let task: TaskSource<Int, Unlucky>
  private let progress: ProgressiveTaskSource<Double, Int, Unlucky>

  init() {
    numbers = BroadcastSource(name: "numbers", instrument: graph)
    size = PublishedProperty(1, name: "size", instrument: graph)
    task = TaskSource(name: "task", instrument: graph)
    progress = ProgressiveTaskSource(name: "progress", instrument: graph)
  }

  /// The paths of updates to a subscriber of `publisher`, in one line.
  private func way<Update, Kind>(_ publisher: Publisher<Update, Kind>) -> String {
    let subscription = publisher.subscribe { _ in }
    defer { subscription.invalidate() }
    let snapshot = graph.snapshot()
    guard let end = snapshot.nodes.first(where: { $0.role == .subscription }) else { return "" }
    return snapshot.way(to: end)
  }

  @Test func `every stream operator is connected to its source and its subscriber`() {
    let numbers = numbers.publisher
    let size = size.publisher
    let second = Duration.seconds(1)

    #expect(way(numbers.map { $0 }) == "numbers → map → subscribe")
    #expect(way(numbers.filter { _ in true }) == "numbers → filter → subscribe")
    #expect(way(numbers.compactMap { $0 }) == "numbers → compactMap → subscribe")
    #expect(way(numbers.scan(0, +)) == "numbers → scan → subscribe")
    #expect(way(numbers.prefix(1)) == "numbers → prefix → subscribe")
    #expect(way(numbers.prefix { _ in true }) == "numbers → prefix → subscribe")
    #expect(way(numbers.dropFirst()) == "numbers → dropFirst → subscribe")
    #expect(way(numbers.drop { _ in true }) == "numbers → drop → subscribe")
    #expect(way(numbers.removeDuplicates()) == "numbers → removeDuplicates → subscribe")
    #expect(way(numbers.removeDuplicates(by: ==)) == "numbers → removeDuplicates → subscribe")
    #expect(way(numbers.first()) == "numbers → first → subscribe")
    #expect(way(numbers.chunked(by: 2)) == "numbers → chunked → subscribe")
    #expect(way(numbers.chunked(every: second, clock: clock)) == "numbers → chunked → subscribe")
    #expect(way(numbers.prepend(1)) == "numbers → prepend → subscribe")
    #expect(way(numbers.pairs()) == "numbers → pairs → subscribe")
    #expect(way(numbers.share()) == "numbers → share → subscribe")
    #expect(way(numbers.debounce(for: second, clock: clock)) == "numbers → debounce → subscribe")
    #expect(way(numbers.throttle(for: second, clock: clock)) == "numbers → throttle → subscribe")
    #expect(way(numbers.delay(for: second, clock: clock)) == "numbers → delay → subscribe")
    #expect(
      way(numbers.publishedValue(initial: 0)) == "numbers → publishedValue → subscribe")
    #expect(
      way(numbers.publishedValue()) == "numbers → publishedValue → subscribe")
    #expect(
      way(PublishedValue(initial: { 1 }, changes: numbers))
        == "numbers → PublishedValue → subscribe")
    #expect(way(size.broadcaster) == "size → subscribe")
    #expect(way(numbers.trace("trace", instrument: graph)) == "numbers → trace → subscribe")
    #expect(way(merge(numbers, size.map { $0 })) == "(numbers, size → map) → merge → subscribe")
    #expect(
      way(combineLatest(size.map { $0 }, size.map { -$0 }))
        == "(size → map, size → map) → combineLatest → subscribe")
    #expect(
      way(numbers.withLatest(from: size.map { $0 }))
        == "(numbers, size → map) → withLatest → subscribe")
    #expect(
      way(numbers.prefix(until: numbers.map { $0 }))
        == "(numbers, numbers → map) → prefix → subscribe")
    #expect(
      way(numbers.drop(until: numbers.map { $0 }))
        == "(numbers, numbers → map) → drop → subscribe")
    #expect(
      way(numbers.append(size.map { $0 })) == "(numbers, size → map) → append → subscribe")
    #expect(
      way(numbers.prefix(0).append(size.map { $0 })) == "size → map → append → subscribe")
    #expect(
      way(size.flatMapLatest { _ in size.map { -$0 } }.map { $0 })
        == "(size → map, size → map) → switchToLatest → map → subscribe")
  }

  @Test func `an inner publisher of flatMap is connected while it is subscribed`() {
    let way = way(numbers.publisher.flatMap(limit: 1) { [size] _ in size.publisher.map { -$0 } })
    #expect(way == "numbers → flatMap → subscribe")
    let subscription = size.publisher.flatMap(limit: 1) { [numbers] _ in numbers.publisher }
      .subscribe {
        _ in
      }
    let snapshot = graph.snapshot()
    let end = snapshot.nodes.first { $0.role == .subscription }
    #expect(end.map { snapshot.way(to: $0) } == "(numbers, size) → flatMap → subscribe")
    withExtendedLifetime(subscription) {}
  }

  @Test func `every task operator is connected to its source and its subscriber`() {
    let (task, progress) = (task.publisher, progress.publisher)
    let second = Duration.seconds(1)

    #expect(way(task.map { $0 }) == "task → map → subscribe")
    #expect(way(task.mapError { $0 }) == "task → mapError → subscribe")
    #expect(way(task.flatMap { _ in task }) == "task → flatMap → subscribe")
    #expect(way(task.recover { _ in task }) == "task → recover → subscribe")
    #expect(way(task.timeout(after: second, clock: clock)) == "task → timeout → subscribe")
    #expect(way(all(task, task.map { $0 })) == "(task, task → map) → all → subscribe")
    #expect(way(all([task, task.map { $0 }])) == "(task, task → map) → all → subscribe")
    #expect(
      way(ProgressiveTask<Int, Int, Unlucky>(task)) == "task → ProgressiveTask → subscribe")
    #expect(way(progress.map { $0 }) == "progress → map → subscribe")
    #expect(way(progress.mapError { $0 }) == "progress → mapError → subscribe")
    #expect(way(progress.mapProgress { $0 }) == "progress → mapProgress → subscribe")
    #expect(way(progress.withoutProgress()) == "progress → withoutProgress → subscribe")
    #expect(way(progress.flatMap { _ in progress }) == "progress → flatMap → subscribe")
    #expect(way(progress.recover { _ in progress }) == "progress → recover → subscribe")
    #expect(
      way(progress.timeout(after: second, clock: clock)) == "progress → timeout → subscribe")
    #expect(way(all(progress, progress)) == "progress → all → subscribe")
    #expect(way(all([progress])) == "progress → all → subscribe")
  }

  @Test func `awaiting a result is drawn without a place`() async {
    let waiting = Task { [task] in await task.publisher.map { $0 }.result }
    var nodes: [LiveGraph.Node] = []
    while nodes.isEmpty {
      await Task.yield()
      nodes = graph.snapshot().nodes.filter { $0.role == .subscription }
    }
    let way = graph.snapshot().way(to: nodes[0])
    task.finish(.success(1))

    _ = await waiting.finished()
    #expect(way == "task → map → result")
    #expect(nodes[0].place == nil)
  }
}

extension LiveGraph.Snapshot {
  /// The active paths to `node`, for example `numbers → map → subscribe`.
  fileprivate func way(to node: LiveGraph.Node) -> String {
    let inputs = edges.filter { $0.to == node.id && $0.isActive }.compactMap { edge in
      nodes.first { $0.id == edge.from }
    }
    let ways = inputs.map { way(to: $0) }
    switch ways.count {
    case 0: return node.name
    case 1: return "\(ways[0]) → \(node.name)"
    default: return "(\(ways.joined(separator: ", "))) → \(node.name)"
    }
  }
}

private struct Unlucky: Error {}

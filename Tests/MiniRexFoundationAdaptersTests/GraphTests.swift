import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNetworkingAdapters
import MiniRexTesting
import Observation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Uses every adapter in one program and checks the place that each reports.
@Suite(.light) struct GraphTests {
  @Test @MainActor func `every adapter is a source with its place in the code`() throws {
    let folder = try Folder()
    let file = URL(filePath: try folder.write("{}", to: "settings"))
    let path = folder.url.path(percentEncoded: false)
    let name = Notification.Name("orderPlaced")
    let center = NotificationCenter()
    let door = Door()
    let model = Model()
    let pipe = Pipe()
    let hour = Duration.seconds(3600)
    let queue = DispatchQueue(label: "test")
    let operations = OperationQueue()
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:9/a?b=c")))
    let graph = LiveGraph()
    let bag = SubscriptionBag()
    var places: Set<Place> = []
    var kept: [Any] = []

    withInstrument(graph) {
      let orders = center.broadcaster(for: name) { $0.name.rawValue }
      places.insert(Place("NotificationCenter \"orderPlaced\"", #line - 1))
      orders.map { $0 }.receive(on: queue).subscribe { _ in }.store(in: bag)
      orders.post(to: center, as: Notification.Name("copy")).store(in: bag)
      places.insert(Place("post", #line - 1))
      orders.subscribe(on: queue).subscribeOnce { _ in }
      places.insert(Place("subscribeOnce", #line - 1))
      queue.sync {}
      let values = center.broadcaster(for: Notification.Name("cancelled"), object: door)
        .receive(on: operations).values(.unbounded)
      places.insert(Place("NotificationCenter \"cancelled\"", #line - 2))
      places.insert(Place("values", #line - 2))
      let opened = center.broadcaster(of: door, for: DoorOpened.self) { $0.name }
      places.insert(Place("NotificationCenter DoorOpened", #line - 1))
      let locked = center.broadcaster(of: Door.self, for: .locked)
      places.insert(Place("NotificationCenter DoorLocked", #line - 1))
      merge(opened.map { _ in 0 }, locked.map(\.number)).subscribeOnMain { _ in }.store(in: bag)
      places.insert(Place("subscribeOnMain", #line - 1))
      let signals = DispatchSource.signals(SIGUSR2, SIGWINCH)
      places.insert(Place("signals SIGUSR2, SIGWINCH", #line - 1))
      let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
      places.insert(Place("reads from \(pipe.fileHandleForReading.fileDescriptor)", #line - 1))
      let changes = folder.url.changes()
      places.insert(Place("changes of \(path)", #line - 1))
      let beat = queue.broadcaster(every: hour)
      places.insert(Place("every 3600.0 seconds", #line - 1))
      let minute = SuspendingClock().broadcaster(every: .seconds(60))
      places.insert(Place("every 60.0 seconds", #line - 1))
      let elements = Broadcaster(stream)
      places.insert(Place("AsyncStream<Int>", #line - 1))
      merge(
        signals.map { "\($0)" }, reads.map { "\($0)" }, changes.map { "\($0)" },
        beat.map { "\($0)" }, minute.map { "\($0)" }, elements.map { "\($0)" }
      ).subscribe { _ in }.store(in: bag)
      let title = publishedValue(of: model, \.title)
      places.insert(Place("observed Model", #line - 1))
      let shown = title.observed()
      places.insert(Place("subscribeOnMain", #line - 1))
      kept = [values, shown]
      #if os(Linux) || os(macOS)
      let tool = Process.task(URL(filePath: "/bin/sleep"), ["1"])
      places.insert(Place("process /bin/sleep", #line - 1))
      tool.subscribe(success: { _ in }, failure: nil).store(in: bag)
      kept.append(tool)
      #endif
      let settings = file.readTask().decode([String: Int].self)
      places.insert(Place("reading of \(file.path(percentEncoded: false))", #line - 1))
      let answer = URLSession.shared.dataTask(for: request).decode([String: Int].self)
      places.insert(Place("GET 127.0.0.1/a", #line - 1))
      kept += [settings, answer]
    }

    let snapshot = graph.snapshot()
    withExtendedLifetime((kept, model)) {
      for node in snapshot.nodes where node.role != .operation {
        #expect(node.place?.fileID == #fileID, "\(node)")
      }
      let found = snapshot.nodes.map { Place($0.name, $0.place?.line) }
      #expect(places.subtracting(found) == [])
      #expect(
        snapshot.ways.sorted() == [
          "AsyncStream<Int> → map → merge → subscribe",
          "GET 127.0.0.1/a → decode",
          "NotificationCenter \"cancelled\" → receive → values",
          "NotificationCenter \"orderPlaced\" → map → receive → subscribe",
          "NotificationCenter \"orderPlaced\" → post",
          "NotificationCenter \"orderPlaced\" → subscribe → subscribeOnce",
          "NotificationCenter DoorLocked → map → merge → subscribeOnMain",
          "NotificationCenter DoorOpened → map → merge → subscribeOnMain",
          "changes of \(path) → map → merge → subscribe",
          "every 3600.0 seconds → map → merge → subscribe",
          "every 60.0 seconds → map → merge → subscribe",
          "observed Model → publishedValue → subscribeOnMain",
          "process /bin/sleep → subscribe",
          "reading of \(file.path(percentEncoded: false)) → decode",
          "reads from \(pipe.fileHandleForReading.fileDescriptor) → map → merge → subscribe",
          "signals SIGUSR2, SIGWINCH → map → merge → subscribe",
        ])
      let isDecoding = Set(snapshot.nodes.filter { $0.name == "decode" }.map(\.id))
      #expect(snapshot.edges.allSatisfy { $0.isActive || isDecoding.contains($0.to) })
    }
    continuation.finish()
  }

  @Test func `a decoded task is connected to its subscriber`() async throws {
    let folder = try Folder()
    let file = URL(filePath: try folder.write(#"{"a": 1}"#, to: "settings"))
    let graph = LiveGraph()

    let task = withInstrument(graph) { file.readTask().decode([String: Int].self) }
    let value = try await task.value

    #expect(value == ["a": 1])
    // The value arrives before the subscription that delivered it is released.
    await until { graph.snapshot().edges.count == 1 }
    #expect(graph.snapshot().edges.first?.updateCount ?? 0 > 0)
    withExtendedLifetime(task) {}
  }

  @Test func `R29 a leaked subscription to an adapter is reported with its line`() {
    let center = NotificationCenter()
    let bag = SubscriptionBag()
    // Create the closure outside: inside the macro's argument, `#line` is the line of the macro.
    let leak = {
      let orders = center.broadcaster(for: Notification.Name("orderPlaced"))
      orders.subscribe { _ in }.store(in: bag)
    }
    let line = #line - 2

    let report = #expect(throws: LeakReport.self) { try expectSubscriptionsEnded(leak) }

    #expect(
      report?.subscriptions
        == ["NotificationCenter \"orderPlaced\" → subscribe, \(#fileID):\(line)"])
  }
}

private struct Place: Hashable {
  let name: String
  let line: Int?

  init(_ name: String, _ line: Int?) {
    self.name = name
    self.line = line
  }
}

@MainActor @Observable private final class Model {
  var title = "a"
}

extension LiveGraph.Snapshot {
  /// The paths from each source to the subscribers of its updates.
  fileprivate var ways: [String] {
    nodes.filter { $0.role == .source }.flatMap { ways(from: $0) }
  }

  private func ways(from node: LiveGraph.Node) -> [String] {
    let targets = edges.filter { $0.from == node.id }.compactMap { edge in
      nodes.first { $0.id == edge.to }
    }
    if targets.isEmpty { return [node.name] }
    return targets.flatMap { ways(from: $0) }.map { "\(node.name) → \($0)" }
  }
}

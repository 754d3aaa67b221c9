import MiniRex
import MiniRexTesting

/// Hears of everything, and asks for a picture.
struct Listener: Instrument {
  let graph: LiveGraph?
  let heard: PublishedProperty<[String]>

  func record(_ event: InstrumentEvent) {
    heard.modify { $0.append(name(of: event.kind)) }
    expect(event.label == "numbers" && event.origin > 0 && !event.description.isEmpty)
    if event.kind == .subscribed { expect(event.subscription != nil && event.subscriber != nil) }
  }

  func name(of kind: InstrumentEvent.Kind) -> String {
    switch kind {
    case .subscribed: "subscribed"
    case .delivered: "delivered"
    case .ended: "ended"
    case .dropped(let count): "dropped \(count)"
    case .backlog(let depth): "backlog \(depth)"
    case .sourceGone: "sourceGone"
    }
  }
}

func watching() async throws {
  let graph = LiveGraph(clock: ManualClock())
  let heard = PublishedProperty<[String]>([])
  let listener = Listener(graph: graph, heard: heard)
  expect(listener.backlogLimit == 1_000 && graph.graph === graph)

  let numbers = BroadcastSource<Int>(
    name: "numbers", instrument: listener, fileID: #fileID, line: #line)
  let token = numbers.publisher.subscribe { _ in }
  numbers.broadcast(1)
  picture(of: graph)
  token.invalidate()
  numbers.end()
  numbers.broadcast(2)
  expect(heard.value == ["subscribed", "delivered", "ended", "sourceGone", "dropped 1"])

  let lines = PublishedProperty<[String]>([])
  let note: @Sendable (String) -> Void = { line in lines.modify { $0.append(line) } }
  let printing = PrintingInstrument(graph: nil, backlogLimit: 7, write: note)
  let traced = withInstrument(printing) { Broadcaster.sequence([1]).trace("one") }
  await withInstrument(printing) {
    await Task { traced.subscribe { _ in }.invalidate() }.value
  }
  printing.record(
    InstrumentEventSource.lastEvent(of: printing.backlogLimit, in: printing.graph))
  expect(lines.value.count == 4 && lines.value[0].hasPrefix("one: subscribed"))

  setDefaultInstrument(graph)
  let watched = PublishedProperty(0)
  expect(graph.snapshot().nodes.last?.name == "PublishedProperty<Int>")
  watched.end()

  try expectReleased { track in _ = track(Owner()) }
  try expectSubscriptionsEnded { numbers.publisher.subscribe { _ in }.invalidate() }
}

/// What an instrument has recorded can be passed on to another one.
enum InstrumentEventSource {
  struct Keeping: Instrument {
    let backlogLimit: Int
    let graph: LiveGraph?
    let last = PublishedProperty<InstrumentEvent?>(nil)
    func record(_ event: InstrumentEvent) { last.value = event }
  }

  static func lastEvent(of limit: Int, in graph: LiveGraph?) -> InstrumentEvent {
    let keeping = Keeping(backlogLimit: limit, graph: graph)
    BroadcastSource<Int>(instrument: keeping).end()
    guard let event = keeping.last.value else { fatalError("nothing was recorded") }
    return event
  }
}

func picture(of graph: LiveGraph) {
  let snapshot: LiveGraph.Snapshot = graph.snapshot()
  let roles: [LiveGraph.Role] = [.source, .operation, .trace, .subscription]
  let node: LiveGraph.Node = snapshot.nodes[0]
  let edge: LiveGraph.Edge = snapshot.edges[0]
  expect(roles.contains(node.role) && node.id == edge.from && node.subscriberCount == 1)
  expect(node.place == CodePlace(fileID: #fileID, line: node.place?.line ?? 0))
  expect(edge.to == snapshot.nodes[1].id && edge.isActive)
  expect(edge.updateCount == 1 && edge.updatesPerSecond == 0)
  expect(graph.dot().hasPrefix("digraph") && graph.mermaid().hasPrefix("flowchart"))
  expect(graph.tree().hasPrefix("numbers"))
}

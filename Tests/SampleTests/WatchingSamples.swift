import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private struct Click: Sendable {
  let place: Int
}

private struct Board: Sendable {
  var title = ""
  var cards = 0
}

/// The samples of Watching.md.
@Suite(.light) struct WatchingSamples {
  @Test func `a store is one source, and its scopes are operations`() {
    let graph = LiveGraph(clock: ManualClock())
    let board = Store(Board(), name: "board", instrument: graph)
    let cards = board.scope(\.cards)
    let subscriptions = [
      board.publisher(of: \.title).subscribe { _ in },
      cards.publisher.subscribe { _ in },
    ]
    board.title = "today"
    board.cards = 3

    let tree = graph.tree()
    withExtendedLifetime((cards, subscriptions)) {
      #expect(tree.contains(", 2 subscribers\n├─ 2 → scope \\Board.cards\n│  └─ → publisher\n"))
      #expect(tree.contains("\n└─ 2 → publisher\n   └─ 2 → subscribe, SampleTests/"))
    }
  }

  @Test func `an event carries the name of its source or the label of its trace`() {
    let paper = Paper()
    withInstrument(PrintingInstrument(write: paper.print)) {
      let clicks = BroadcastSource<Click>(name: "clicks")
      let places = clicks.publisher.map(\.place).trace("places")

      let subscription = places.subscribe { _ in }
      clicks.broadcast(Click(place: 1))
      subscription.invalidate()
    }
    let events = paper.lines.map { $0.prefix { $0 != "," } }
    #expect(events.contains { $0.hasPrefix("places: subscribed by #") })
    #expect(events.contains { $0.hasPrefix("clicks: delivered to #") })
    #expect(events.contains { $0.hasPrefix("clicks: unsubscribed for #") })
    #expect(events.last == "clicks: finished")
  }

  @Test func `the default instrument prints to standard output`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      setDefaultInstrument(PrintingInstrument())

      BroadcastSource<Int>(name: "clicks").end()
    }
    let output = result.map { String(decoding: $0.standardOutputContent, as: UTF8.self) } ?? ""
    #expect(output.contains("clicks: finished, SampleTests/WatchingSamples.swift:"))
  }

  @Test func `the default graph is drawn as a tree`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let graph = LiveGraph()
      setDefaultInstrument(graph)

      let numbers = BroadcastSource<Int>(name: "numbers")
      let all = numbers.publisher.subscribe { _ in }
      let even = numbers.publisher.map { $0 * 3 }.filter { $0.isMultiple(of: 2) }.subscribe { _ in }
      for number in 1...12 { numbers.broadcast(number) }

      print(graph.tree())
      withExtendedLifetime((all, even)) {}
    }
    let output = result.map { String(decoding: $0.standardOutputContent, as: UTF8.self) } ?? ""
    #expect(output.contains("numbers, SampleTests/WatchingSamples.swift:"))
    #expect(output.contains(", 2 subscribers\n"))
    #expect(output.contains("└─ → filter\n"))
  }
}

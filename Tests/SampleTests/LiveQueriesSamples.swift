import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// The code of LiveQueries.md, of the comments of `LiveRows`, and of two sections about moving.
@Suite(.light) struct LiveQueriesSamples {
  struct Card: Identifiable, Sendable, Equatable {
    let id: Int
    var title: String
    var rank: Int
    var column = "Plan"
    var points = 1
    var owner: Int?
    var isDone = false
  }

  struct Person: Identifiable, Sendable, Equatable {
    let id: Int
    var name: String
  }

  struct Board: Sendable, Equatable {
    var cards: Rows<Card> = []
    var people: Rows<Person> = []
  }

  struct Player: Identifiable, Sendable {
    let id: Int
    var score: Int
  }

  let store = Store<Board, Never>(
    Board(
      cards: [
        Card(id: 1, title: "Wash", rank: 2, owner: 7), Card(id: 2, title: "Cook", rank: 1),
        Card(id: 3, title: "Shop", rank: 3, isDone: true),
      ], people: [Person(id: 7, name: "Rex")]))

  @Test func `a query emits the changes of a list`() {
    let log = Shared<[String]>([])
    @Sendable func print(_ text: String) { log.value.append(text) }

    let open = store.live(\.cards).filter { !$0.isDone }.sorted(by: \.rank)
    let subscription = open.updates.subscribe { update in
      switch update {
      case .all(let cards): print("all \(cards.map(\.id))")
      case .changes(let changes): for change in changes { print("\(change)") }
      }
    }
    store.commit { $0.cards[id: 1]?.rank = 0 }
    store.commit { $0.cards[id: 2]?.isDone = true }

    #expect(log.value == ["all [2, 1]", "moved 1 from 1 to 0", "removed 2 at 1"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `an array follows a query`() {
    let open = store.live(\.cards).filter { !$0.isDone }
    let shown = Shared<[Card]>([])
    let subscription = open.updates.subscribe { update in
      shown.change { update.apply(to: &$0) }
    }
    store.commit { $0.cards.remove(id: 1) }

    #expect(shown.value.map(\.id) == [2])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a search text is a parameter`() {
    let search = PublishedProperty("")
    let cards = store.live(\.cards)
    let found = cards.filter(by: search.publisher) { card, text in card.title.contains(text) }
    let ids = Recorder(found.publisher.map { $0.map(\.id) })
    search.value = "o"
    #expect(ids.updates.last == [2, 3])
  }

  @Test func `queries order, group, combine, and join rows`() {
    let cards = store.live(\.cards)
    let ranked = cards.sorted(by: \.rank)
    let columns = cards.grouped(by: \.column)
    #expect(ranked.current().map(\.id) == [2, 1, 3])
    #expect(columns.current().map(\.id) == ["Plan"])

    let open = store.live(\.cards).filter { !$0.isDone }
    let points = open.reduce(0, { $0.points }, +)
    let best = open.reduce(nil, { Int?.some($0.points) }) { max($0 ?? .min, $1 ?? .min) }
    #expect(points.current() == 2 && best.current() == 1)
  }

  @Test func `a row refers to a row of another query`() {
    let cards = store.live(\.cards).joined(with: store.live(\.people), on: \.owner)
    #expect(cards.current().first?.other?.name == "Rex")
  }

  @Test func `the first rows are a query`() {
    let scores = PublishedProperty<Rows<Player>>([Player(id: 1, score: 3), Player(id: 2, score: 4)])
    let players = scores.publisher.live()
    let leaders = players.sorted { -$0.score }.prefix(10)
    #expect(leaders.current().map(\.id) == [2, 1])
  }

  @Test func `snapshots are compared`() {
    let open = store.live(\.cards).filter { !$0.isDone }
    let subscription = open.publisher.subscribe { _ in }
    let old = open.current()
    store.commit { $0.cards.remove(id: 1) }
    let changes = open.current().changes(since: old)

    #expect(changes == [.removed(1, at: 0)])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a list is shown`() {
    let count = Shared(0)
    @Sendable func show(_ update: RowsUpdate<Card>) { count.increment() }

    let open = store.live(\.cards).filter { !$0.isDone }.sorted(by: \.rank)
    let subscription = open.updates.subscribe { show($0) }

    #expect(count.value == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test func `rows are rearranged in the state`() {
    store.commit { state in
      state.cards.sort(by: \.rank)
      state.cards.move(fromOffsets: [0], toOffset: 3)
      state.cards.remove(atOffsets: [1])
    }
    #expect(store.state.cards.ids.elementsEqual([1, 2]))
  }

  @Test func `a computed list becomes a query`() {
    let store = Store(
      MovingFromTCASamples.Inbox(items: [.init(id: 1), .init(id: 2)]),
      reducer: MovingFromTCASamples.inbox(.init { _ in [] }, clock: ManualClock()))

    let open = store.live(\.items).filter { !$0.isDone }
    let badge = open.count

    let counts = Recorder(badge)
    store.send(.item(2, .tapped))
    #expect(counts.updates == [2, 1])
  }

  @Test func `a selector of a list becomes a query`() {
    let newest = store.live(\.cards).sorted { -$0.id }.prefix(2)
    let titles = newest.map(CardTitle.init)
    #expect(titles.current().map(\.title) == ["Shop", "Cook"])
  }

  struct CardTitle: Identifiable, Sendable, Equatable {
    let id: Int
    let title: String

    init(_ card: Card) {
      id = card.id
      title = card.title
    }
  }
}

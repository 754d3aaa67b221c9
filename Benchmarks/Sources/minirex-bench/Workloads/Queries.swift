import MiniRex
import MiniRexStore

struct Card: Sendable, Identifiable {
  let id: Int
  var rank: Int
  var isDone = false
}

struct CardBoard: Sendable {
  var cards: Rows<Card>
}

enum CardAction: Sendable {
  case rank(Int, Int)
  case toggle(Int)
}

/// Returns a board, half of whose cards are done.
///
/// Ranks are a permutation of the IDs.
func cardBoard(_ count: Int) -> Store<CardBoard, CardAction> {
  let cards = (0..<count).map { Card(id: $0, rank: $0 &* 7919 % count, isDone: $0 % 2 == 0) }
  return Store(CardBoard(cards: Rows(cards))) { (state: inout CardBoard, action: CardAction) in
    switch action {
    case .rank(let id, let rank): state.cards[id: id]?.rank = rank
    case .toggle(let id): state.cards[id: id]?.isDone.toggle()
    }
    return .none
  }
}

/// A live query of the open cards in the order of their ranks, beside computing it for each commit.
extension Suite {
  func queries() {
    for n in [1000, 100_000] {
      // One card is changed in its place, as in `rows-1`.
      queries("query-row-\(n)", n) { i, _ in .rank(n / 2 + 1, -1 - i % 2) }
      // Another card each time stays in its place, moves anywhere, or disappears and appears again.
      queries("query-update-\(n)", n) { i, card in .rank(card, card &* 7919 % n &+ i % 2) }
      queries("query-move-\(n)", n) { i, card in .rank(card, i &* 104_729 % n) }
      queries("query-toggle-\(n)", n) { i, _ in .toggle((i / 2 &* 7919 &* 2 &+ 1) % n) }
    }
    weighAlone("query-memory", "minirex", count: 100_000) { n in
      let store = Store<Rows<Card>, Never>(Rows((0..<n).map { Card(id: $0, rank: $0 &* 7919 % n) }))
      let query = store.live(\.self).filter { !$0.isDone }.sorted(by: \.rank)
      return { Holder<AnyObject>([store, query.updates.subscribe { _ in }]) }
    }
  }

  private func queries(
    _ name: String, _ n: Int,
    _ action: @escaping @Sendable (_ round: Int, _ card: Int) -> CardAction
  ) {
    bench(name, "minirex") {
      let store = opaque(cardBoard(n))
      let acc = Acc()
      let open = store.live(\.cards).filter { !$0.isDone }.sorted(by: \.rank)
      let token = Holder([
        open.updates.subscribe { update in
          if case .changes(let changes) = update { acc.add(changes.count) }
        }
      ])
      var round = 0
      return { k in
        for _ in 0..<k {
          store.send(action(round, (round &* 7919 &* 2 &+ 1) % n))
          round &+= 1
        }
        withExtendedLifetime(token) {}
      }
    }
    bench(name, "publisher(of:)") {
      let store = opaque(cardBoard(n))
      let acc = Acc()
      let token = Holder([
        store.publisher(of: { state in
          state.cards.filter { !$0.isDone }.sorted { $0.rank < $1.rank }
        }).subscribe { acc.add($0.count) }
      ])
      var round = 0
      return { k in
        for _ in 0..<k {
          store.send(action(round, (round &* 7919 &* 2 &+ 1) % n))
          round &+= 1
        }
        withExtendedLifetime(token) {}
      }
    }
  }
}

import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore

extension Outside {
  /// Generates comments instead of searching a folder.
  init(generating count: Int) {
    let words = ["Measure", "Paint", "Order", "Clean", "Replace", "Describe"]
    let things = ["needle", "sensor", "antenna", "battery", "dial", "housing", "cable"]
    let comments = (1...max(1, count)).prefix(count).map { number in
      let text = "\(words[number % words.count]) \(things[number % things.count]) \(number)"
      return Comment(file: "part-\(number % 500).c", line: number / 500 + 1, text: text)
    }
    let found = Findings(comments: comments, folders: ["\(count) generated cards"])
    findings = { _ in .sequence([found]) }
  }
}

extension Store<Board, BoardAction> {
  /// Adds, edits, moves, and closes random cards until the subscription is canceled.
  func changeRandomly(_ changesPerSecond: Int) -> Subscription? {
    if changesPerSecond == 0 { return nil }
    let ticks = ContinuousClock().broadcaster(every: .milliseconds(20))
      .receive(on: DispatchQueue(label: "generator"), buffering: .bufferingNewest(1))
    let due = ticks.map { Int($0 / .seconds(1) * Double(changesPerSecond)) }
    // One commit for the changes of an interval, because a history retains the last state, so that
    // each commit copies the rows.
    return due.prepend(0).pairs().subscribe { [self] due in
      let cards = state.cards
      let actions = (due.0..<due.1).map { randomAction($0, cards) }
      if !actions.isEmpty { send(.all(actions)) }
    }
  }

  private func randomAction(_ number: Int, _ cards: Rows<Card>) -> BoardAction {
    guard let card = cards.randomElement() else { return .add("Card \(number)") }
    let others = Column.allCases.filter { $0 != card.column }
    return switch number % 40 {
    case 0: .add("A new card beside \(card.id)")
    case 20: .close(card.id)
    case 1...16: .move(card.id, others.randomElement() ?? .todo)
    default: .edit(card.id, "\(card.text.prefix { $0 != "," }), change \(number)")
    }
  }
}

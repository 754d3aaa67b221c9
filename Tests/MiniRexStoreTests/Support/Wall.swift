import MiniRex
import MiniRexStore

/// Rows, rows in a removable child, and a permanent child.
struct Wall: Sendable {
  var cards: Rows<Card> = []
  var drawer: Drawer?
  var edits = 0
}

struct Drawer: Sendable {
  var cards: Rows<Card> = []
}

struct Card: Sendable, Identifiable, Equatable {
  let id: Int
  var text = ""
  var number = 0
  var steps: Rows<Step> = []
  var note: Note?
}

struct Step: Sendable, Identifiable, Equatable {
  let id: String
  var isDone = false
}

struct Note: Sendable, Equatable {
  var text = ""
}

extension Wall {
  init(cards count: Int) { cards = Rows((0..<count).map { Card(id: $0) }) }
}

enum WallAction: Sendable {
  case card(Int, CardAction)
  case remove(Int)
  case add(Int)
  case cancel(String)
}

enum CardAction: Sendable {
  case count
  case follow(String)
  case note(NoteAction)
  case cancel(String)
}

enum NoteAction: Sendable {
  case follow
  case told
}

/// Reduces a wall whose cards and notes subscribe to a source.
struct Clerk: Sendable {
  let source = BroadcastSource<Int>()

  func note(_ state: inout Note, _ action: NoteAction) -> Effect<NoteAction> {
    switch action {
    case .follow: return .publisher { [source] in source.publisher.map { _ in .told } }
    case .told: state.text += "!"
    }
    return .none
  }

  func card(_ state: inout Card, _ action: CardAction) -> Effect<CardAction> {
    switch action {
    case .count: state.number += 1
    case .follow(let id):
      return .publisher { [source] in source.publisher.map { _ in .count } }.cancellable(id: id)
    case .note(let action):
      return .reduce(&state, ifPresent: \.note, action, by: note) { .note($0) }
    case .cancel(let id): return .cancel(id: id)
    }
    return .none
  }

  func wall(_ state: inout Wall, _ action: WallAction) -> Effect<WallAction> {
    state.edits += 1
    switch action {
    case .card(let id, let action):
      return .reduce(&state, row: id, in: \.cards, action, by: card) { .card($0, $1) }
    case .remove(let id): state.cards.remove(id: id)
    case .add(let id): state.cards.append(Card(id: id))
    case .cancel(let id): return .cancel(id: id)
    }
    return .none
  }
}

import MiniRex
import MiniRexReplica
import MiniRexStore
import TestSupport
import Testing

/// A state whose value depends on the order of the actions.
struct Board: Codable, Equatable, Sendable {
  struct Card: Codable, Equatable, Sendable { var moves = 0 }

  var owners: [String: String] = [:]
  var words: [String] = []
  var card = Card()
}

enum BoardAction: Codable, Equatable, Sendable {
  case claimed(String, by: String)
  case said(String)
  case retracted(String)
  case moved(Int)
  case repeated(String)
}

struct Taken: Error, Equatable {}

@Sendable func validate(_ board: Board, _ action: BoardAction) throws {
  if case .claimed(let id, _) = action, board.owners[id] != nil { throw Taken() }
}

@Sendable func reduce(_ board: inout Board, _ action: BoardAction) -> Effect<BoardAction> {
  switch action {
  case .claimed(let id, let owner): board.owners[id] = owner
  case .said(let word): board.words.append(word)
  case .retracted(let word):
    if let index = board.words.lastIndex(of: word) { board.words.remove(at: index) }
  case .moved(let count): board.card.moves += count
  case .repeated(let word):
    board.words.append(word)
    return .run { send in send(.said("echo of \(word)")) }
  }
  return .none
}

func makeReplica(
  _ link: MemoryLog.Link, keptIn folder: String? = nil,
  durability: ReplicaDurability = .written, pendingLimit: Int = 10_000,
  retryAfter interval: Duration = .seconds(600)
) throws -> Replica<Board, BoardAction> {
  try Replica(
    Board(), of: link, keptIn: folder, durability: durability, pendingLimit: pendingLimit,
    retryAfter: interval,
    reducer: reduce, validating: validate)
}

extension MemoryLog.Link {
  /// Accepts and delivers everything until the replica has no pending action and has read the log.
  func settle(
    _ replica: Replica<Board, BoardAction>, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let isSettled = await holds {
      await replica.processed()
      acceptAll()
      deliverNext(.max)
      await replica.processed()
      let progress = replica.progress.current()
      return inFlightCount == 0 && undelivered == 0 && progress?.pending == 0
        && progress?.sequence == position
    }
    if isSettled || Task.isCancelled { return }
    Issue.record(
      "The replica is still at work: \(replica.progress.current() as Any)",
      sourceLocation: sourceLocation)
  }

  func acceptAll() { while inFlightCount > 0 { acceptNext() } }
}

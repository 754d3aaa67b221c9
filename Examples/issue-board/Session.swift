import MiniRex
import MiniRexJournal
import MiniRexStore

/// A board in use, with the way back.
struct Session: Sendable {
  enum Answer {
    case done
    case text(String)
    case refused(String)
    case quit
  }

  typealias BoardJournal = Journal<Board, BoardAction>

  let store: Store<Board, BoardAction>
  private let history: History
  private let reducer: Reducer<Board, BoardAction>
  private let journal: BoardJournal?
  private let recording: Subscription?

  /// - Parameter journal: Has the board of the last run, and gets what happens in this one.
  init(_ outside: Outside, _ journal: BoardJournal? = nil) throws {
    reducer = board(outside)
    var state = try journal?.replay(Board(), reducer: reducer) ?? Board()
    // They are followed from when they are found.
    state.folders = []
    // Only what happens in this run can be undone.
    state.isByHand = false
    store = Store(state, name: "board", reducer: reducer)
    // Of all of it, as of a part: what leaves it as it was, a look into the folder as a rule, is none.
    history = History(of: store.scope(\.self) { (action: BoardAction) in action }) {
      $0.state.isByHand
    }
    recording = journal?.record(store)
    self.journal = journal
  }

  /// What is shown, now and whenever it changes.
  var shown: PublishedValue<ShownBoard> {
    combineLatest(store.publisher, history.canUndo, history.canRedo) {
      ShownBoard(folder: $0.folders.first ?? "", cards: $0.cards, canUndo: $1, canRedo: $2)
    }
  }

  /// Does what a line says; what is done is in the journal, whoever was delivering.
  func obey(_ line: String) async -> Answer {
    switch Command(line, on: store.state) {
    case .action(let action): store.send(action)
    case .undo:
      guard history.undo() else { return .refused("There is nothing to undo.") }
      // The comments are those of today.
      store.send(.look)
    case .redo:
      guard history.redo() else { return .refused("There is nothing to redo.") }
      store.send(.look)
    case .list: return .text(store.state.picture)
    case .refused(let advice): return .refused(advice)
    case .quit: return .quit
    }
    do { try await journal?.flush() } catch { return .refused("This is not recorded. \(error)") }
    return .done
  }

  /// The number of the last commit in the journal.
  var lastCommit: Int? { journal?.lastNumber }

  /// The board as it was after a commit, and what that has changed.
  func past(_ number: Int) throws -> (board: FlatState, changes: [String: FlatChange])? {
    guard let journal, number > 0, number <= journal.lastNumber else { return nil }
    func board(_ number: Int) throws -> FlatState {
      let board = try journal.replay(Board(), upTo: number, reducer: reducer)
      return try FlatState(ShownBoard(folder: board.folders.first ?? "", cards: board.cards))
    }
    let state = try board(number)
    return (state, state.changes(since: try board(number - 1)))
  }
}

import MiniRex
import MiniRexJournal
import MiniRexStore

/// A board with undo and an optional journal.
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

  /// - Parameter journal: The journal that restores the last run's board and records this run.
  init(_ outside: Outside, _ journal: BoardJournal? = nil) throws {
    reducer = board(outside)
    var state = try journal?.replay(Board(), reducer: reducer) ?? Board()
    // The first search finds the folders, which are then followed.
    state.folders = []
    // Only edits of this run can be undone.
    state.isByHand = false
    store = Store(state, name: "board", reducer: reducer)
    // A scope of the entire board skips commits that change nothing, such as most searches.
    history = History(of: store.scope(\.self) { (action: BoardAction) in action }) {
      $0.state.isByHand
    }
    recording = journal?.record(store)
    self.journal = journal
  }

  /// The board that browsers show.
  var shown: PublishedValue<ShownBoard> {
    combineLatest(store.publisher, history.canUndo, history.canRedo) {
      ShownBoard(folder: $0.folders.first ?? "", cards: $0.cards, canUndo: $1, canRedo: $2)
    }
  }

  /// Executes a command.
  ///
  /// When it returns, the journal contains the result durably.
  func obey(_ line: String) async -> Answer {
    switch Command(line, on: store.state) {
    case .action(let action): store.send(action)
    case .undo:
      guard history.undo() else { return .refused("No change can be undone.") }
      // Undo restores old findings, so search again.
      store.send(.look)
    case .redo:
      guard history.redo() else { return .refused("No change can be redone.") }
      store.send(.look)
    case .list: return .text(store.state.picture)
    case .refused(let advice): return .refused(advice)
    case .quit: return .quit
    }
    do { try await journal?.flush() } catch { return .refused("Not recorded: \(error)") }
    return .done
  }

  /// The number of the last commit in the journal.
  var lastCommit: Int? { journal?.lastNumber }

  /// Returns the board after a commit, and the changes of the commit.
  func past(_ number: Int) throws -> (board: FlatState, changes: [String: FlatChange])? {
    guard let journal, number > 0, number <= journal.lastNumber else { return nil }
    func flat(_ board: Board) throws -> FlatState {
      try FlatState(ShownBoard(folder: board.folders.first ?? "", cards: board.cards))
    }
    let board = try flat(journal.replay(Board(), upTo: number, reducer: reducer))
    let before = try flat(journal.replay(Board(), before: number, reducer: reducer))
    return (board, board.changes(since: before))
  }
}

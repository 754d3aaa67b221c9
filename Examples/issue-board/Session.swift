import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore

/// A board with undo and an optional journal.
struct Session: Sendable {
  enum Answer {
    case done
    case added(Card)
    case text(String)
    case refused(String)
    case quit
  }

  typealias BoardJournal = Journal<Board, BoardAction>

  let store: Store<Board, BoardAction>
  let history: History
  /// The number of files that the current search has read, or `nil` between searches.
  let progress: PublishedValue<Int?>
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
    progress = outside.progress
  }

  /// Emits after changes that the browsers show, other than changes of a card.
  var changes: Broadcaster<Void> {
    merge(
      store.publisher.broadcaster.map { _ in }, history.canUndo.map { _ in },
      history.canRedo.map { _ in }, progress.map { _ in })
  }

  /// Executes a command.
  ///
  /// When it returns, the journal contains the result durably.
  func obey(_ line: String) async -> Answer {
    var answer = Answer.done
    switch Command(line, on: store.state) {
    case .action(.add(let text)):
      let receipt = store.send(.add(text)) { $0.cards.last }
      if let card = receipt.value { answer = .added(card) }
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
    return answer
  }

  /// The numbers of the first and the last commit that the journal keeps.
  var firstCommit: Int? { journalStatus.map { $0.firstNumber + 1 } }
  var lastCommit: Int? { journal?.lastNumber }

  /// The commits, the sizes, and the compaction of the journal.
  var journalStatus: JournalStatus? { journal?.status.current() }

  /// Returns the board after a commit, and the changes of the commit.
  ///
  /// A commit that the journal no longer keeps counts as the first commit that it keeps.
  ///
  /// - Parameter step: 1 or -1 skips commits that change nothing shown, up to the last or the first.
  func past(_ number: Int, toward step: Int) throws -> PastBoard? {
    guard let journal, let first = firstCommit, number > 0, number <= journal.lastNumber
    else { return nil }
    func flat(_ board: Board) throws -> FlatState {
      try FlatState(ShownBoard(folder: board.folders.first ?? "", cards: board.cards))
    }
    var number = min(max(number, first), journal.lastNumber)
    while true {
      let board = try flat(journal.replay(Board(), upTo: number, reducer: reducer))
      let before = try flat(journal.replay(Board(), before: number, reducer: reducer))
      let past = PastBoard(
        number: number, second: second(of: number, in: journal), board: board,
        changes: board.changes(since: before))
      // The folder is stored by the first search of each run.
      let isShown = past.changes.keys.contains { $0 != "folder" }
      if isShown || step == 0 || number <= first || number >= journal.lastNumber { return past }
      number += step
    }
  }
}

/// Returns the Unix second of a commit.
///
/// A journal finds the commit of a date, so the date is found by halves.
private func second(of number: Int, in journal: Journal<Board, BoardAction>) -> Int? {
  func last(_ second: Int) -> Int? {
    try? journal.number(at: Date(timeIntervalSince1970: Double(second)))
  }
  var (low, high) = (0, Int(Date().timeIntervalSince1970) + 1)
  guard last(high) ?? 0 >= number else { return nil }
  while low < high {
    let middle = (low + high) / 2
    if last(middle) ?? 0 >= number { high = middle } else { low = middle + 1 }
  }
  return low
}

/// The board after a commit.
struct PastBoard: Sendable {
  let number: Int
  /// The Unix second of the commit, or `nil` if the journal has no dates.
  let second: Int?
  let board: FlatState
  let changes: [String: FlatChange]
}

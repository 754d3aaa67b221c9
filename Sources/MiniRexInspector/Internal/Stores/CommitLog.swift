internal import Foundation
internal import MiniRexStore

/// The last commits of a store, and the state after each of them.
///
/// The log stores only the last state. It computes earlier states by reverting the commits in
/// reverse order, because each change contains the previous value.
struct CommitLog: Sendable {
  struct Entry: Sendable {
    /// The number of the previous commit in the log.
    ///
    /// The commits between them were dropped.
    let previous: Int
    let number: Int
    let date: Date
    let cause: String
    /// The changes by path, or `nil` if they exceed the size limit.
    var changes: [String: FlatChange]?
    let changeCount: Int
    /// The reason for which the state could not be encoded.
    var failure: String?
    fileprivate var size: Int
  }

  private(set) var entries: [Entry] = []
  private(set) var state: FlatState?
  private(set) var number = 0
  private var size = 0
  private let limits: (commits: Int, bytes: Int)

  init(_ settings: Settings) { limits = (settings.commits, settings.bytes) }

  /// Sets the state at the start of a recording.
  mutating func begin(_ number: Int, _ state: FlatState) {
    (self.number, self.state) = (number, state)
  }

  /// - Parameter changes: The differences from the last state.
  mutating func add(
    _ number: Int, _ cause: String, _ date: Date,
    _ outcome: Result<(state: FlatState, changes: [String: FlatChange]), any Error>
  ) {
    var entry = Entry(
      previous: self.number, number: number, date: date, cause: cause, changes: [:],
      changeCount: (try? outcome.get().changes.count) ?? 0, size: 100 + cause.utf8.count)
    switch outcome {
    case .success(let (state, changes)):
      self.state = state
      entry.changes = changes
      for (path, change) in changes { entry.size += 100 + path.utf8.count + change.size }
    case .failure(let error): entry.failure = shortened("\(error)", to: 500)
    }
    self.number = number
    if entry.size > limits.bytes {
      // Without the changes of this commit, earlier states cannot be computed.
      entries = []
      (size, entry.size, entry.changes) = (0, 100, nil)
    }
    entries.append(entry)
    size += entry.size
    while entries.count > limits.commits || size > limits.bytes {
      size -= entries.removeFirst().size
    }
  }

  /// Returns the state after a commit, or `nil` if the log does not contain the commit.
  func state(after number: Int) -> [String: FlatValue]? {
    guard let state, let index = entries.firstIndex(where: { $0.number == number }) else {
      return nil
    }
    var values = state.values
    for entry in entries[(index + 1)...].reversed() {
      for (path, change) in entry.changes ?? [:] { values[path] = change.valueBefore }
    }
    return values
  }
}

extension FlatChange {
  /// The value before the change, or `nil` if the change added the path.
  var valueBefore: FlatValue? {
    switch self {
    case .added: nil
    case .removed(let value), .changed(from: let value, to: _): value
    }
  }

  fileprivate var size: Int { (value?.size ?? 0) + (valueBefore?.size ?? 0) }
}

extension FlatValue {
  fileprivate var size: Int {
    if case .string(let text) = self { text.utf8.count } else { 8 }
  }
}

/// Returns the first `count` characters of a text, followed by an ellipsis if it is longer.
func shortened(_ text: String, to count: Int) -> String {
  let prefix = text.prefix(count)
  return prefix.endIndex == text.endIndex ? text : prefix + "…"
}

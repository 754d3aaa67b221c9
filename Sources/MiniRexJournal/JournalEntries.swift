internal import MiniRex

/// A commit in a journal.
public struct JournalEntry<State: Sendable, Action: Sendable>: Sendable {
  /// The change of a commit.
  public enum Content: Sendable {
    /// An action.
    case action(Action)
    /// The state after a commit without an action, or the state with which another recording began.
    case state(State)
  }

  /// The number of the commit.
  public let number: Int
  /// The change.
  public let content: Content
}

/// The commits of a journal, as a sequence that waits for further commits.
public struct JournalEntries<State: Codable & Sendable, Action: Codable & Sendable>: AsyncSequence,
  Sendable
{
  /// A commit.
  public typealias Element = JournalEntry<State, Action>
  /// The reason why the entries cannot be read.
  public typealias Failure = JournalFailure

  private let makeFollower: @Sendable () -> JournalFollower<State, Action>
  let interval: Duration

  init(
    path: String, upcasting: JournalUpcasting, after number: Int, durableOnly: Bool,
    interval: Duration
  ) {
    if interval < .zero {
      misuse("'entries' requires an interval of 0 or more, not \(interval).")
    }
    makeFollower = {
      JournalFollower(path, JournalDecoder(upcasting), after: number, durableOnly: durableOnly)
    }
    // Without a pause, each look at the end of the file would follow the last immediately.
    self.interval = Swift.max(interval, .milliseconds(1))
  }

  /// Creates an iterator that reads on its own.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(follower: makeFollower(), interval: interval)
  }

  /// An iterator over the entries.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let follower: JournalFollower<State, Action>
    private let interval: Duration
    private var isOver = false

    fileprivate init(follower: JournalFollower<State, Action>, interval: Duration) {
      self.follower = follower
      self.interval = interval
    }

    /// Returns the next entry, or `nil` if the task was canceled.
    public mutating func next() async throws(JournalFailure) -> JournalEntry<State, Action>? {
      while !isOver, !Task.isCancelled {
        if let entry = follower.takeEntry() { return entry }
        do throws(JournalFailure) {
          if try await follower.read() { continue }
        } catch {
          isOver = true
          throw error
        }
        try? await Task.sleep(for: interval)
      }
      return nil
    }
  }
}

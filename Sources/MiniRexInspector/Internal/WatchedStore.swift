internal import Foundation
internal import MiniRex
internal import MiniRexFoundationAdapters
internal import MiniRexStore

/// A type-erased store, and the log of its commits.
///
/// Only the inspector's queue writes to the log.
final class WatchedStore: Sendable {
  /// The counts of a store that exists.
  struct Counts: Sendable, Hashable, Encodable {
    let effects: Int
    let subscribers: Int
    let pending: Int
  }

  let name: String
  private let log: Lock<CommitLog>
  private let subscribe: @Sendable (WatchedStore) -> Subscription
  private let read: @Sendable () -> Counts?
  private let recording = Lock<Subscription?>(nil)
  private let settings: Settings

  init<State, Action>(
    _ store: Store<State, Action>, name: String, _ queue: DispatchQueue, _ settings: Settings
  ) {
    self.name = name
    self.settings = settings
    log = Lock(CommitLog(settings))
    read = { [weak store] in
      store.map {
        Counts(
          effects: $0.effectCount, subscribers: $0.subscriberCount, pending: $0.pendingUpdates)
      }
    }
    subscribe = { [weak store] watched in
      let commits = Broadcaster<Commit<State, Action>> { [weak store] receive in
        store?.subscribeToCommits(receive) ?? .ended
      }
      let isFirst = SerialState(true)
      return commits.receive(on: queue, buffering: .bufferingNewest(settings.waitingCommits))
        .subscribe { [weak watched] commit in
          watched?.take(commit, isFirst: isFirst.value)
          isFirst.value = false
        }
    }
  }

  /// The counts without the inspector's subscription, or `nil` if the store is deallocated.
  var counts: Counts? {
    let own = recording.withLock { $0 == nil ? 0 : 1 }
    return read().map {
      Counts(effects: $0.effects, subscribers: max(0, $0.subscribers - own), pending: $0.pending)
    }
  }

  var commits: CommitLog { log.withLock { $0 } }

  func begin() {
    let subscription = subscribe(self)
    let old = recording.withLock { recording in
      defer { recording = subscription }
      return recording
    }
    old?.invalidate()
  }

  func end() {
    recording.withLock { $0.take() }?.invalidate()
  }

  private func take<State, Action>(_ commit: Commit<State, Action>, isFirst: Bool) {
    let (last, number) = log.withLock { ($0.state, $0.number) }
    let state = Result { try FlatState(ReflectedState.encodable(commit.state)) }
    guard let last else {
      if let state = try? state.get() { log.withLock { $0.begin(commit.number, state) } }
      return
    }
    // Nothing changed while the inspector was not subscribed.
    if commit.number == number { return }
    let cause = isFirst ? "while no page was open" : shortened("\(commit.cause)", to: 2_000)
    let outcome = state.map { (state: $0, changes: $0.changes(since: last)) }
    let date = Date()
    log.withLock { $0.add(commit.number, cause, date, outcome) }
  }
}

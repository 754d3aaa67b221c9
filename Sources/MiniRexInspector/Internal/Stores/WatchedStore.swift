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

  /// An unfinished effect.
  struct EffectLine: Sendable, Encodable, Equatable {
    let number: Int
    let name: String?
    /// The number of the commit whose action returned the effect.
    let commit: Int
    /// The time of the start in seconds since 1970, or `nil` if the effect has not started.
    let start: Double?
    let isCancelled: Bool

    init(_ effect: EffectStatus, at now: Date) {
      number = effect.run.number
      name = effect.run.name.map { shortened($0, to: 200) }
      commit = effect.run.commit
      start = effect.age.map { age in
        (now.timeIntervalSince1970 - age / .seconds(1)).rounded(to: 10)
      }
      isCancelled = effect.isCancelled
    }

    /// Ignores the time, whose measurement varies.
    static func == (one: EffectLine, other: EffectLine) -> Bool {
      one.number == other.number && one.isCancelled == other.isCancelled
        && (one.start == nil) == (other.start == nil)
    }
  }

  /// The totals for metrics of a store that exists.
  struct Totals: Sendable {
    let commits: Int
    let effects: Int
    let runningEffects: Int
    let pending: Int
    let reducer: ReducerTimes.Histogram?
  }

  /// Decides which commits are recorded.
  private enum Recording: Sendable {
    /// No page is open.
    case off
    case on(Subscription)
    /// The store has exceeded its share of a processor → on, off.
    case paused
  }

  let name: String
  let earlierCommits: Int
  private let log: Lock<CommitLog>
  private let timeline: WatchedEffects
  private let subscribe: @Sendable (WatchedStore) -> Subscription
  private let read: @Sendable () -> Counts?
  private let readEffects: @Sendable () -> [EffectStatus]
  private let readTotals: @Sendable () -> Totals?
  private let readScopes: @Sendable () -> [ScopeStatus]
  private let readJobs: @Sendable (Int) -> [JobsInspection]
  /// The last result of `scopes` and its time.
  private let seenScopes = Lock<([ScopeLine], ContinuousClock.Instant?)>(([], nil))
  private let recording = Lock(Recording.off)
  /// The reason why commits were not recorded before the inspector subscribed again.
  ///
  /// The log shows it as the cause of the next commit, which contains their changes.
  private let gap = Lock("")
  private let budget: Lock<WorkBudget>
  private let queue: DispatchQueue
  private let settings: Settings

  init<State, Action>(
    _ store: Store<State, Action>, name: String, earlierCommits: Int, _ queue: DispatchQueue,
    _ settings: Settings
  ) {
    self.name = name
    self.earlierCommits = earlierCommits
    self.queue = queue
    self.settings = settings
    log = Lock(CommitLog(settings))
    budget = Lock(WorkBudget(share: settings.recordingShare, limit: settings.burst))
    timeline = WatchedEffects(queue, settings) { [weak store] count in
      store?.unfinishedEffects(atMost: count) ?? []
    }
    read = { [weak store] in
      store.map {
        Counts(
          effects: $0.effectCount, subscribers: $0.subscriberCount, pending: $0.pendingUpdates)
      }
    }
    readEffects = { [weak store] in
      store?.unfinishedEffects(atMost: settings.effects) ?? []
    }
    readTotals = { [weak store] in
      store.map {
        Totals(
          commits: $0.commitTotal, effects: $0.effectTotal, runningEffects: $0.effectCount,
          pending: $0.pendingUpdates, reducer: $0.reducerTimes?.histogram)
      }
    }
    readScopes = { [weak store] in store?.scopeTree ?? [] }
    readJobs = { [weak store] count in store?.jobs(atMost: count) ?? [] }
    let timeline = timeline
    subscribe = { [weak store] watched in
      let commits = Broadcaster<Commit<State, Action>> { [weak store] receive in
        store?.subscribeToEvents { event in
          if case .committed(let commit) = event { receive(commit) } else { timeline.take(event) }
        } ?? .ended
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
    let own = recording.withLock { if case .on = $0 { 1 } else { 0 } }
    return read().map {
      Counts(effects: $0.effects, subscribers: max(0, $0.subscribers - own), pending: $0.pending)
    }
  }

  /// The unfinished effects, up to a limit.
  var effects: [EffectLine] {
    let now = Date()
    return readEffects().map { EffectLine($0, at: now) }
  }

  var totals: Totals? { readTotals() }

  /// The performed jobs, and some of them at each place.
  var jobs: [JobsLine] { readJobs(settings.jobs).map { JobsLine($0) } }

  /// The counts of the performed jobs.
  var jobTotals: [JobsInspection] { readJobs(0) }

  var commits: CommitLog { log.withLock { $0 } }

  /// The beginnings and ends of effects.
  var effectLog: EffectLog { timeline.log }

  /// Ends the effects of a deallocated store, which publishes no events.
  ///
  /// Runs on the queue.
  func endEffectsWithStore() { if read() == nil { timeline.compare() } }

  /// The scopes in use, as lines of a tree, up to a limit, at most one `rates` old.
  var scopes: [ScopeLine] {
    let now = ContinuousClock.now
    let (lines, time) = seenScopes.withLock { $0 }
    if let time, now - time < settings.rates { return lines }
    let fresh = ScopeLine.lines(of: readScopes(), atMost: settings.scopes)
    seenScopes.withLock { $0 = (fresh, now) }
    return fresh
  }

  func begin() {
    gap.withLock { $0 = "while no page was open" }
    replace(.on(subscribe(self)))
  }

  func end() { replace(.off) }

  private func replace(_ new: Recording) {
    let old = recording.withLock { recording in
      defer { recording = new }
      return recording
    }
    if case .on(let subscription) = old { subscription.invalidate() }
  }

  /// Stops recording until the share of a processor allows more.
  ///
  /// Without a subscription, the store computes nothing for the inspector and copies no state.
  private func pause() {
    let old = recording.withLock { recording -> Subscription? in
      guard case .on(let subscription) = recording else { return nil }
      recording = .paused
      return subscription
    }
    guard let old else { return }
    gap.withLock { $0 = "too many commits to record each" }
    old.invalidate()
    queue.asyncAfter(deadline: .now() + settings.pause / .seconds(1)) { [weak self] in
      self?.resume()
    }
  }

  private func resume() {
    guard case .paused = recording.withLock({ $0 }) else { return }
    let subscription = subscribe(self)
    let hasResumed = recording.withLock { recording in
      guard case .paused = recording else { return false }
      recording = .on(subscription)
      return true
    }
    if !hasResumed { subscription.invalidate() }
  }

  /// Records a commit, and pauses if the store has exceeded its share of a processor.
  ///
  /// Runs on the queue.
  private func take<State, Action>(_ commit: Commit<State, Action>, isFirst: Bool) {
    let start = threadTime()
    if isFirst { timeline.compare() }
    record(commit, isFirst: isFirst)
    let isExceeded = budget.withLock { budget in
      budget.spend(threadTime() - start + settings.handover, at: .now)
      return budget.isExceeded
    }
    if isExceeded { pause() }
  }

  private func record<State, Action>(_ commit: Commit<State, Action>, isFirst: Bool) {
    let (last, number) = log.withLock { ($0.state, $0.number) }
    // Nothing changed while the inspector was not subscribed.
    if last != nil, commit.number == number { return }
    let state = Result { try FlatState(ReflectedState.encodable(commit.state)) }
    guard let last else {
      if let state = try? state.get() { log.withLock { $0.begin(commit.number, state) } }
      return
    }
    let cause = isFirst ? gap.withLock { $0 } : shortened("\(commit.cause)", to: 2_000)
    let outcome = state.map { (state: $0, changes: $0.changes(since: last)) }
    let date = Date()
    log.withLock { $0.add(commit.number, cause, date, outcome) }
  }
}

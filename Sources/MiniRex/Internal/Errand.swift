/// Work that is under way somewhere else, until it says that it has come back.
///
/// ```swift
/// SharedWork { inlet in
///   let errand = Errand()
///   reader.start(reportingTo: inlet) { errand.comeBack() }
///   return errand.subscription { reader.stop() }
/// }
/// ```
///
/// Whoever leaves, and awaits that, waits until `comeBack` has been called: when nothing runs any
/// more, and what was to be cleaned up is. Where that is known by a release, let a `Sentinel` call
/// it. Unchecked like every `SubscriptionHost`: its state is in a `Lock`.
package final class Errand: SubscriptionHost, @unchecked Sendable {
  private struct State {
    var isBack = false
    /// `nil` before it is known and after it was called.
    var stop: ClosingCall?
    var drains: [Drain] = []
  }

  /// The work that the current Swift task does.
  @TaskLocal static var current: Errand?

  private let state = Lock(State())
  /// The work that has started this one and has not come back either, as far as Swift tasks know.
  private let outer: Errand?

  package override init() {
    var outer = Errand.current
    // Or work that starts the next one, and so on, would keep all that have been.
    while let errand = outer, errand.isBack { outer = errand.outer }
    self.outer = outer
    super.init()
  }

  /// The token of the work.
  ///
  /// - Parameter stop: Called once, when the work is cancelled or has finished.
  package func subscription(_ stop: @escaping @Sendable () -> Void) -> Subscription {
    state.withLock { $0.stop = ClosingCall(stop) }
    return Subscription(self)
  }

  /// Nothing of the work runs any more.
  package func comeBack() {
    let drains = state.withLock { state in
      state.isBack = true
      defer { state.drains = [] }
      return state.drains
    }
    for drain in drains { drain.comeBack() }
  }

  func isPart(of other: Errand) -> Bool {
    var errand: Errand? = self
    while let current = errand {
      if current === other { return true }
      errand = current.outer
    }
    return false
  }

  private var isBack: Bool { state.withLock { $0.isBack } }

  override func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.stop != nil }
  }

  override func end(_ token: Subscription) {
    var stop = state.withLock { $0.stop.take() }
    stop?()
    ReleaseChain.release(&stop)
  }

  override func end(_ token: Subscription, for drain: Drain) {
    isAwaited(by: drain)
    end(token)
  }

  func isAwaited(by drain: Drain) {
    if !drain.expect(self) { return }
    let isBack = state.withLock { state in
      if !state.isBack { state.drains.append(drain) }
      return state.isBack
    }
    if isBack { drain.comeBack() }
  }
}

extension Errand {
  /// A Swift task that does the work, and comes back when it has returned.
  ///
  /// - Parameter finish: Called with what the work returns, when it has.
  static func run<Result: Sendable>(
    _ work: @escaping @Sendable () async -> Result, finish: @escaping @Sendable (Result) -> Void
  ) -> Subscription {
    let errand = Errand()
    let task = Task {
      finish(await $current.withValue(errand, operation: work))
      errand.comeBack()
    }
    return errand.subscription { task.cancel() }
  }
}

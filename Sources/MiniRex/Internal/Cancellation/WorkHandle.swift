/// A handle of work that runs elsewhere, until `finish()`.
///
/// ```swift
/// SharedWork { inlet in
///   let workHandle = WorkHandle()
///   reader.start(reportingTo: inlet) { workHandle.finish() }
///   return workHandle.subscription { reader.stop() }
/// }
/// ```
///
/// A waiting cancellation returns after `finish()`, when nothing runs and cleanup is complete.
/// Where a release marks that moment, a `Sentinel` calls it.
package final class WorkHandle: SubscriptionHost {
  private struct State {
    var isBack = false
    /// `nil` before it is known, and after it was called.
    var stop: OnceClosure?
    var groups: [WaitGroup] = []
    var endCalls = EndCalls()
  }

  /// The work of the current Swift task.
  @TaskLocal static var current: WorkHandle?

  private let state = Lock(State())
  /// The unfinished work that started this work, where task-local values show it.
  private let outer: WorkHandle?

  /// The valve of work that can wait for its subscribers.
  private let valve: SendValve?

  package init(waitingAt valve: SendValve? = nil) {
    self.valve = valve
    var outer = WorkHandle.current
    // A chain of work in which each run starts the next would retain all earlier handles.
    while let workHandle = outer, workHandle.isBack { outer = workHandle.outer }
    self.outer = outer
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    valve?.attach(counter, of: token)
  }

  /// Returns the subscription of the work.
  ///
  /// - Parameter stop: A closure that runs once, when the work is canceled or has finished.
  package func subscription(_ stop: @escaping @Sendable () -> Void) -> Subscription {
    state.withLock { $0.stop = OnceClosure(stop) }
    return Subscription(self)
  }

  /// Marks the work as finished: no part of it runs.
  package func finish() {
    let groups = state.withLock { state in
      state.isBack = true
      defer { state.groups = [] }
      return state.groups
    }
    valve?.end()
    for group in groups { group.leave() }
  }

  func isPart(of other: WorkHandle) -> Bool {
    var workHandle: WorkHandle? = self
    while let current = workHandle {
      if current === other { return true }
      workHandle = current.outer
    }
    return false
  }

  private var isBack: Bool { state.withLock { $0.isBack } }

  func isSubscribed(_ token: Subscription) -> Bool {
    state.withLock { $0.stop != nil }
  }

  func withEndCalls(
    of token: Subscription, _ body: (inout EndCalls, _ isActive: Bool) -> Void
  ) {
    state.withLock { state in body(&state.endCalls, state.stop != nil) }
  }

  func end(_ token: Subscription) {
    var (stop, endCalls) = state.withLock { ($0.stop.take(), $0.endCalls.takeAll()) }
    stop?()
    // The valve ends after `stop`, so that work that waits there finds itself canceled.
    valve?.end()
    ReleaseChain.release(&stop)
    for call in endCalls { call.resume() }
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    isAwaited(by: group)
    end(token)
  }

  func isAwaited(by group: WaitGroup) {
    if !group.enter(self) { return }
    let isBack = state.withLock { state in
      if !state.isBack { state.groups.append(group) }
      return state.isBack
    }
    if isBack { group.leave() }
  }
}

extension WorkHandle {
  /// Runs a part of the work, in the current Swift task.
  package func run<Result, Failure: Error>(
    _ part: () async throws(Failure) -> Result
  ) async -> Swift.Result<Result, Failure> {
    await Self.$current.withValue(self) { await outcome(of: part) }
  }

  /// Runs the work in a Swift task, and finishes when it returns.
  ///
  /// - Parameter finish: A closure that receives the result of the work.
  static func run<Result: Sendable>(
    waitingAt valve: SendValve? = nil, _ work: @escaping @Sendable () async -> Result,
    finish: @escaping @Sendable (Result) -> Void
  ) -> Subscription {
    let workHandle = WorkHandle(waitingAt: valve)
    let task = Task {
      finish(await $current.withValue(workHandle, operation: work))
      workHandle.finish()
    }
    return workHandle.subscription { task.cancel() }
  }
}

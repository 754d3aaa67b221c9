import MiniRex

/// The effects of one `send`, including the effects of the actions that they send.
///
/// Unchecked: exclusive access to the store guards everything outside the `Lock`.
@usableFromInline
final class EffectGroup: @unchecked Sendable {
  /// The result, shared with waiting tasks.
  private struct Ending: ~Copyable {
    var result: Result<Void, any Error>?
    var waiters = SmallArray<Waiter>()
    var source: TaskSource<Void, any Error>?
    var failure: (any Error)?
    var hasThrown = false
    /// The advice about an error, which is printed unless a task receives the error.
    var advice: String?
  }

  let host: any EffectHost
  private let ending = Lock(Ending())

  private struct State {
    /// The number of unfinished effects and chains.
    var count = 0
    var failure: (any Error)?
    var wasCancelled = false
    /// `true` if further actions are dropped.
    var isMarked = false
  }

  @safe @exclusivity(unchecked) private var state = State()
  /// The newest running effect of the group.
  ///
  /// The registry retains it.
  @exclusivity(unchecked) private unowned(unsafe) var lastMember: RunningEffect?

  @usableFromInline
  init(_ host: any EffectHost) {
    self.host = host
  }

  deinit {
    inDebugBuild { printAdvice() }
  }

  private func printAdvice() {
    let advice = ending.withLock { ending in
      ending.hasThrown || ending.source != nil ? nil : ending.advice
    }
    if let advice { print(advice) }
  }

  /// Prints advice when no task can receive the error any more.
  func advise(_ advice: String) {
    ending.withLock { $0.advice = $0.advice ?? advice }
  }

  @usableFromInline
  func enter() {
    state.count += 1
  }

  /// Counts the end of an effect or of a chain.
  ///
  /// - Returns: `true` if the group is finished and must be completed after the state is released.
  func leave(_ end: EffectEnd) -> Bool {
    switch end {
    case .finished: break
    case .cancelled: state.wasCancelled = true
    case .failed(let error): state.failure = state.failure ?? error
    }
    state.count -= 1
    return state.count == 0
  }

  @usableFromInline
  func markCancelled() {
    state.isMarked = true
  }

  @usableFromInline var isCancelled: Bool { state.isMarked }

  /// Decides about an action of the group.
  ///
  /// - Returns: `false` if the group was canceled, so its action is dropped.
  @usableFromInline
  func acceptsAction() -> Bool {
    if !state.isMarked { return true }
    state.wasCancelled = true
    return false
  }

  /// Adds a running effect in O(1).
  func link(_ effect: RunningEffect) {
    unsafe effect.previous = lastMember
    unsafe lastMember?.next = effect
    unsafe lastMember = effect
  }

  func unlink(_ effect: RunningEffect) {
    let (previous, next) = unsafe (effect.previous, effect.next)
    if let next { unsafe next.previous = previous } else { unsafe lastMember = previous }
    if let previous { unsafe previous.next = next }
    unsafe effect.previous = nil
    unsafe effect.next = nil
  }

  /// The running effects in the order of their numbers.
  var members: [RunningEffect] {
    var members: [RunningEffect] = []
    var member = unsafe lastMember
    while let some = member {
      members.append(some)
      member = unsafe some.previous
    }
    return members.reversed()
  }

  @usableFromInline
  func complete() {
    let failure = state.failure
    let error = failure ?? (state.wasCancelled ? CancellationError() : nil)
    let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
    var source: TaskSource<Void, any Error>?
    let waiters = ending.withLock { ending in
      ending.result = result
      ending.failure = failure
      source = ending.source
      return ending.waiters.take()
    }
    waiters.callEach { $0.resume() }
    source?.finish(result)
  }

  var isFinished: Bool { ending.withLock { $0.result != nil } }

  /// The error of an effect that no waiting task has received.
  var unseenFailure: (any Error)? {
    ending.withLock { $0.hasThrown ? nil : $0.failure }
  }

  /// Resumes the waiter after all effects have ended.
  ///
  /// The waiter then throws the error.
  func wait(_ waiter: Waiter) {
    let isOver = ending.withLock { ending in
      ending.hasThrown = true
      if ending.result == nil { ending.waiters.append(waiter) }
      return ending.result != nil
    }
    if isOver { waiter.resume() }
  }

  var result: Result<Void, any Error>? { ending.withLock { $0.result } }

  var publisher: PublishedTask<Void, any Error> {
    let fresh = TaskSource<Void, any Error>()
    let (source, result) = ending.withLock { ending in
      let source = ending.source ?? fresh
      ending.source = source
      return (source, ending.result)
    }
    // The source ignores a second result.
    if let result { source.finish(result) }
    return source.publisher
  }
}

import MiniRex

/// Who can cancel a group: whoever knows the store, without keeping it.
@usableFromInline
protocol EffectHost: AnyObject, Sendable {
  func cancel(_ group: EffectGroup)
}

/// All effects of a `send` and of the actions that these send.
///
/// Unchecked: what is not in the `Lock` is guarded by exclusive access to the store.
@usableFromInline
final class EffectGroup: @unchecked Sendable {
  /// What those who wait know of it.
  private struct Ending: ~Copyable {
    var result: Result<Void, any Error>?
    var waiters = Few<Waiter>()
    var source: TaskSource<Void, any Error>?
    var failure: (any Error)?
    var hasThrown = false
  }

  private let host: any EffectHost
  private let ending = Lock(Ending())

  /// How many of its effects, and of the chains that it began with, are not over.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var failure: (any Error)?
  @exclusivity(unchecked) private var wasCancelled = false
  /// Whether what it still sends is dropped.
  @exclusivity(unchecked) private var isMarked = false

  @usableFromInline
  init(_ host: any EffectHost) {
    self.host = host
  }

  @usableFromInline
  func enter() {
    unsafe count += 1
  }

  /// - Returns: True if it is over, and has to be completed once the state is let go.
  func leave(_ end: EffectEnd) -> Bool {
    switch end {
    case .finished: break
    case .cancelled: unsafe wasCancelled = true
    case .failed(let error): unsafe failure = failure ?? error
    }
    unsafe count -= 1
    return unsafe count == 0
  }

  @usableFromInline
  func markCancelled() {
    unsafe isMarked = true
  }

  var isCancelled: Bool { unsafe isMarked }

  @usableFromInline
  func complete() {
    let failure = unsafe self.failure
    let error = unsafe failure ?? (wasCancelled ? CancellationError() : nil)
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

  func cancel() {
    host.cancel(self)
  }

  var isFinished: Bool { ending.withLock { $0.result != nil } }

  /// What an effect has thrown, and nobody who waited has been told.
  var unseenFailure: (any Error)? {
    ending.withLock { $0.hasThrown ? nil : $0.failure }
  }

  /// Resumes the waiter, who will throw what there is to throw, once all is over.
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
    // Refused if it has its result already.
    if let result { source.finish(result) }
    return source.publisher
  }
}

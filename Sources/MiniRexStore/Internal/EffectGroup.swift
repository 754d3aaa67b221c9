import MiniRex

/// Who can cancel a group: the store, which it does not keep alive.
protocol EffectHost: AnyObject, Sendable {
  func cancel(_ group: EffectGroup)
}

/// All effects of a `send` and of the actions that these send.
///
/// Unchecked: what is not in the `Lock` is guarded by exclusive access to the store.
@usableFromInline
final class EffectGroup: @unchecked Sendable {
  /// What those who wait know of it.
  private struct Ending {
    var result: Result<Void, any Error>?
    var waiters: [CheckedContinuation<Void, Never>] = []
    var source: TaskSource<Void, any Error>?
    var failure: (any Error)?
    var hasThrown = false
  }

  private weak let host: (any EffectHost)?
  private let ending = Lock(Ending())

  /// How many of its effects, and of the chains that it began with, are not over.
  private var count = 0
  private var failure: (any Error)?
  private var wasCancelled = false
  /// Whether what it still sends is dropped.
  private(set) var isCancelled = false

  init(_ host: (any EffectHost)?) {
    self.host = host
  }

  func enter() {
    count += 1
  }

  /// - Returns: True if it is over, and has to be completed once the state is let go.
  func leave(_ end: EffectEnd) -> Bool {
    switch end {
    case .finished: break
    case .cancelled: wasCancelled = true
    case .failed(let error): failure = failure ?? error
    }
    count -= 1
    return count == 0
  }

  func markCancelled() {
    isCancelled = true
  }

  func complete() {
    let error = failure ?? (wasCancelled ? CancellationError() : nil)
    let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
    let (waiters, source) = ending.withLock { ending in
      ending.result = result
      ending.failure = failure
      let waiters = ending.waiters
      ending.waiters = []
      return (waiters, ending.source)
    }
    for waiter in waiters { waiter.resume() }
    source?.finish(result)
  }

  func cancel() {
    host?.cancel(self)
  }

  var isFinished: Bool { ending.withLock { $0.result != nil } }

  /// What an effect has thrown, and nobody who waited has been told.
  var unseenFailure: (any Error)? {
    ending.withLock { $0.hasThrown ? nil : $0.failure }
  }

  func finished() async throws {
    await withCheckedContinuation { waiter in
      let isOver = ending.withLock { ending in
        if ending.result == nil { ending.waiters.append(waiter) }
        return ending.result != nil
      }
      if isOver { waiter.resume() }
    }
    let result = ending.withLock { ending in
      ending.hasThrown = true
      return ending.result
    }
    try result?.get()
  }

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

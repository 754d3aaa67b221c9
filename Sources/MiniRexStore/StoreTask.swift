public import MiniRex

/// What one ``Store/send(_:)`` has started: its effects, and those of all actions that these send.
///
/// ```swift
/// try await store.send(.queryChanged("rex")).finished()
/// ```
///
/// It does not keep the store alive, and dropping it cancels nothing.
public struct StoreTask: Sendable {
  /// `nil` if there was nothing to start.
  let group: EffectGroup?

  @usableFromInline
  init(_ group: EffectGroup?) {
    self.group = group
  }

  /// True once all of it has ended; at once if there are no effects.
  public var isFinished: Bool { group?.isFinished ?? true }

  /// Tells once that all of it has ended, also to whoever subscribes later.
  ///
  /// Leaving it cancels nothing. The failure is what ``finished()`` throws.
  public var publisher: PublishedTask<Void, any Error> { group?.publisher ?? .success(()) }

  /// Waits until all of it has ended.
  ///
  /// It throws the first error in the order of ending, or a `CancellationError` if an effect was
  /// cancelled, as all are that still run when the store goes. If the Swift task that waits is
  /// cancelled, so is all of it: `.task { try? await store.send(.appeared).finished() }` binds work to
  /// a view.
  public func finished() async throws {
    guard let group else { return }
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { group.wait(unsafe Waiter($0)) }
    } onCancel: {
      group.cancel()
    }
    try group.result?.get()
  }

  /// What one of its effects has thrown, if no `finished()` has thrown it on.
  package var unseenFailure: (any Error)? { group?.unseenFailure }

  /// Cancels all of it that runs; no action of it is reduced after this has returned, except one that
  /// another thread is reducing at the time.
  public func cancel() {
    group?.cancel()
  }
}

public import MiniRex

/// The effects of one ``Store/send(_:)-(Action)``, and of all actions that these effects send.
///
/// ```swift
/// try await store.send(.queryChanged("rex")).finished()
/// ```
///
/// A task does not retain the store. Releasing it cancels nothing.
public struct StoreTask: Sendable {
  /// The effects of the action, or `nil` if it returned none.
  @usableFromInline let group: EffectGroup?
  /// The number of the last commit of the chain, or 0 if there is none.
  @usableFromInline let lastCommit: Int

  @inlinable
  init(_ group: EffectGroup?, number: Int) {
    self.group = group
    lastCommit = number
  }

  /// The number of the last commit of the chain that this ``Store/send(_:)-(Action)`` started.
  ///
  /// Commits of later actions, including actions that the effects send, have other numbers. It is `nil`
  /// if the action was sent inside the store's own reducer, where it is reduced after the return, or
  /// to a scope whose child was removed.
  @inlinable
  public var number: Int? { lastCommit == 0 ? nil : lastCommit }

  /// A Boolean value that indicates whether all effects have ended.
  ///
  /// `true` if there are none.
  public var isFinished: Bool { group?.isFinished ?? true }

  /// Emits once when all effects have ended, even to late subscribers.
  ///
  /// Canceling the subscription cancels no effect. The failure is the error that ``finished()``
  /// throws.
  public var publisher: PublishedTask<Void, any Error> { group?.publisher ?? .success(()) }

  /// Waits until all effects have ended.
  ///
  /// Canceling the waiting Swift task cancels the effects. `.task { try? await
  /// store.send(.appeared).finished() }` binds them to a view.
  ///
  /// - Throws: The error of the effect that failed first. Without one, `CancellationError` if an
  ///   effect was canceled or the store was released.
  public func finished() async throws {
    guard let group else { return }
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { group.wait(unsafe Waiter($0)) }
    } onCancel: {
      group.cancel()
    }
    try group.result?.get()
  }

  /// The error of an effect that no `finished()` has thrown yet.
  package var unseenFailure: (any Error)? { group?.unseenFailure }

  /// Cancels the effects.
  ///
  /// After `cancel()` returns, the store reduces no further action of this task, except an action
  /// that another thread is reducing at that moment. If a reducer cancels the task of its own
  /// action, the actions that it returns or sends are dropped.
  ///
  /// The cost is O(effects of this task), independent of all other effects.
  public func cancel() {
    group?.cancel()
  }
}

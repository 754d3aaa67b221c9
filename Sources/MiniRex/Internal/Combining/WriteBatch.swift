public import Synchronization

/// Writes to several properties that combinations emit together.
///
/// A combination that receives one of the writes holds its changes until all writes are delivered,
/// by whichever threads. Then the combinations emit, inputs of other combinations first.
@usableFromInline
final class WriteBatch: Sendable {
  private struct State {
    /// The writes that are not delivered yet, and the call of `together` itself.
    var pending: Int
    var held: [Combination] = []
    /// `true` after the last held combination has emitted.
    var isOver = false
  }

  private let state: Lock<State>
  private static let ofThread = ThreadLocal<WriteBatch>()
  /// The number of batches that are not over.
  @usableFromInline static let openCount = Atomic(0)

  init(writes: Int) {
    state = Lock(State(pending: writes + 1))
    WriteBatch.openCount.add(1, ordering: .relaxed)
  }

  /// The batch whose write this thread is delivering.
  ///
  /// A thread looks at its thread-local value only while a batch is not over.
  @usableFromInline static var current: WriteBatch? {
    openCount.load(ordering: .relaxed) > 0 ? ofThread.value : nil
  }

  @inlinable static var isDeliveringHere: Bool {
    openCount.load(ordering: .relaxed) > 0 && hasCurrent
  }

  @usableFromInline static var hasCurrent: Bool { ofThread.value != nil }

  /// Delivers a write.
  func deliver(_ body: () -> Void) {
    let outer = WriteBatch.ofThread.value
    WriteBatch.ofThread.value = self
    body()
    WriteBatch.ofThread.value = outer
  }

  /// Counts a delivered write.
  ///
  /// After the last write, the held combinations emit.
  func leave() {
    let isLast = state.withLock { state in
      state.pending -= 1
      return state.pending == 0
    }
    if !isLast { return }
    deliver(release)
    WriteBatch.openCount.subtract(1, ordering: .relaxed)
  }

  /// Returns `true` if the combination was not held yet.
  ///
  /// Called under the lock of the combination.
  func hold(_ combination: Combination) -> Bool {
    state.withLock { state in
      if state.isOver || state.held.contains(where: { $0 === combination }) { return false }
      state.held.append(combination)
      return true
    }
  }

  /// Lets the combinations emit.
  ///
  /// Combinations that receive their emissions are held as well.
  private func release() {
    while let next = nextHeld() { next.close() }
  }

  /// Removes a combination whose inputs do not depend on another held combination.
  private func nextHeld() -> Combination? {
    let held = state.withLock { state in
      state.isOver = state.held.isEmpty
      return state.held
    }
    let next =
      held.first { combination in
        let inputs = SharedSources(of: combination).combinations
        return !inputs.contains { input in held.contains { $0 === input } }
      } ?? held.first
    guard let next else { return nil }
    state.withLock { $0.held.removeAll { $0 === next } }
    return next
  }
}

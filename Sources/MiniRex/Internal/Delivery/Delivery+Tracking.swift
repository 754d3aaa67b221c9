extension Delivery {
  /// Admits an update on which computed values depend, or which belongs to a batch.
  ///
  /// Called under the lock.
  ///
  /// - Returns: The turn that the caller must run, and `true` if the update is queued.
  @inlinable
  func admit(
    _ update: Update, replacing replaced: Update?, _ version: UInt, in batch: WriteBatch?,
    from thread: ThreadID, _ state: inout DeliveryState
  ) -> (turn: Turn?, isQueued: Bool) {
    let queuedCount = unsafe queue.count
    let turn = admit(update, replacing: replaced, from: thread, &state)
    guard unsafe queue.count > queuedCount, var last = unsafe queue.popLast() else {
      return (turn, false)
    }
    last.version = version
    last.batch = batch
    unsafe queue.append(last)
    return (turn, true)
  }
}

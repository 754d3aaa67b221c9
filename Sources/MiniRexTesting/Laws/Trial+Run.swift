internal import MiniRex

extension Trial {
  /// Runs the script on a separate thread, and returns when it finishes or hangs.
  ///
  /// - Returns: The first broken rule, or `nil`.
  func run(_ script: Script) async throws(CancellationError) -> Broken? {
    let outcome = Lock<Broken?>(nil)
    let request = SleepRequest()
    startThread {
      do {
        try script.run(self)
      } catch {
        outcome.withLock { $0 = error as? Broken }
      }
      request.wake()
      self.abandon()
    }
    let watch = Task { [limit, log] in
      while log.hanging(for: limit) == nil {
        do { try await Task.sleep(for: limit / 10) } catch { return }
      }
      request.wake(byCancelling: true)
    }
    await request.sleep { request.wake(byCancelling: true) }
    watch.cancel()
    if Task.isCancelled { throw CancellationError() }
    // A call that hangs is the cause of missing updates.
    return log.broken ?? log.hanging(for: limit / 2) ?? outcome.withLock { $0 }
  }
}

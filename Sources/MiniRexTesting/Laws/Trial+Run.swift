internal import MiniRex

extension Trial {
  /// Runs the script on a thread of its own, and returns when that is over or hangs.
  ///
  /// - Returns: What was broken, if anything was.
  func run(_ script: Script) async throws(CancellationError) -> Broken? {
    let outcome = Lock<Broken?>(nil)
    let nap = Nap()
    startThread {
      do {
        try script.run(self)
      } catch {
        outcome.withLock { $0 = error as? Broken }
      }
      nap.wake()
      self.abandon()
    }
    let watch = Task { [limit, log] in
      while log.hanging(for: limit) == nil {
        do { try await Task.sleep(for: limit / 10) } catch { return }
      }
      nap.wake(byCancelling: true)
    }
    await nap.sleep { nap.wake(byCancelling: true) }
    watch.cancel()
    if Task.isCancelled { throw CancellationError() }
    // What hangs is the reason why something else has not come in time.
    return log.broken ?? log.hanging(for: limit / 2) ?? outcome.withLock { $0 }
  }
}

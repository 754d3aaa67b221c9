extension Jobs {
  /// Applies an action of `perform`.
  ///
  /// ```swift
  /// case .charges(let action): shop.charges.reduce(action)
  /// ```
  ///
  /// An action about an attempt that is over has no effect.
  public mutating func reduce(_ action: JobsAction<Job>) {
    switch action {
    case .began(let id, let attempt, let time):
      change(id) { entry in
        guard entry.attempts + 1 == attempt, entry.status != .failed else { return false }
        entry.attempts = attempt
        entry.status = .running(since: time)
        return true
      }
    case .failed(let id, let failure, let time):
      change(id) { entry in
        guard entry.runs(failure.attempt) else { return false }
        entry.failure = failure
        entry.status = time.map { .waiting(until: $0) } ?? .failed
        return true
      }
    case .finished(let id, let attempt):
      if self[id: id]?.runs(attempt) == true { remove(id) }
    case .retry(let id): retry(id)
    case .remove(let id): remove(id)
    }
  }
}

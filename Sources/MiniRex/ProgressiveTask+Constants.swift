extension Publisher where Kind == ProgressiveTaskKind {
  /// A task that never has progress or a result, and never ends.
  public static var never: Publisher {
    let storage = TaskStorage<Update>()
    return Publisher(current: { nil }) { storage.subscribe($0) }
  }

  /// A task that calls each subscriber with progress and a result inside `subscribe`.
  public static func sequence<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ progress: [Progress], _ result: Result<Success, Failure>
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    Publisher(current: { nil }) { receive in
      for amount in progress { receive(.progress(amount)) }
      receive(.finished(result))
      return .ended
    }
  }

  /// A task that tells progress, one after each interval, and then its result an interval later.
  ///
  /// It begins with the first subscriber, once for all; when the last one leaves before the result,
  /// its timer ends, and the next subscriber begins anew. It calls where the clock does. An
  /// interval that is not longer than 0 stops the program.
  public static func sequence<Progress: Sendable, Success: Sendable, Failure: Error>(
    _ progress: [Progress], _ result: Result<Success, Failure>, every interval: Duration,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> ProgressiveTask<Progress, Success, Failure>
  where Update == TaskUpdate<Progress, Success, Failure> {
    let updates = progress.map { Update.progress($0) } + [.finished(result)]
    let steps = Broadcaster.sequence(updates, every: interval, clock: clock)
    return Publisher(
      sharing: SharedWork { inlet in
        steps.subscribe { step in
          if case .finished = step { inlet.finish(step) } else { inlet.report(step) }
        }
      })
  }
}

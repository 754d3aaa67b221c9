extension Publisher {
  /// Makes a task of shared work; see `SharedWork`.
  ///
  /// - Parameter inputs: Where the tasks that it works with come from, as far as they are watched.
  package init(
    of inputs: [Lineage] = [], by function: String = #function, sharing work: SharedWork<Update>
  ) {
    self.init(lineage: .ofOperation(function, on: inputs), current: { nil }) { work.subscribe($0) }
  }

  /// Makes a task of shared work that is watched as a source if there is a lineage.
  package init(watchedBy lineage: Lineage?, sharing work: SharedWork<Update>) {
    self.init(watchedBy: lineage, current: { nil }) { work.subscribe($0) }
  }
}

extension Publisher where Kind == TaskKind {
  /// Makes a task of an async function.
  ///
  /// ```swift
  /// let user = PublishedTask { () async throws(FetchError) in try await fetch(id) }
  /// ```
  ///
  /// The work runs once, in a Swift task of its own that starts with the first subscriber, for all
  /// subscribers. When the last one leaves before it has finished, that Swift task is cancelled,
  /// what it still returns is ignored, and the next subscriber starts the work anew; see
  /// ``Subscription/invalidateAndDrain()`` to wait until it has returned. A closure whose type of
  /// failure is not written out, as it is here, has the failure `any Error`.
  public init<Success: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) where Update == Result<Success, Failure> {
    self.init(.whileSubscribed, work)
  }

  /// Makes a task of an async function, and says what becomes of it when nobody is subscribed.
  ///
  /// With ``TaskLifetime/keepsRunning`` the work still starts with the first subscriber, but is
  /// never cancelled. Otherwise it is like the initialiser without it.
  public init<Success: Sendable, Failure: Error>(
    _ lifetime: TaskLifetime, _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) where Update == Result<Success, Failure> {
    self.init(
      sharing: SharedWork(lifetime) { inlet in
        Errand.run {
          await outcome(of: work)
        } finish: {
          inlet.finish($0)
        }
      })
  }

  /// Makes a task of something that calls back.
  ///
  /// - Parameter start: Called once for the first subscriber, inside `subscribe`. Call `finish`
  ///   from any thread; the first call counts. The token that you return is ended once: when the
  ///   result has come, or the last subscriber has left; whoever waits for the work to come back
  ///   waits until that closure has returned. If `finish` is released without a call, the task ends
  ///   without a result, and the next subscriber starts it anew.
  public init<Success: Sendable, Failure: Error>(
    _ start:
      @escaping @Sendable (
        _ finish: @escaping @Sendable (Result<Success, Failure>) -> Void
      ) -> Subscription
  ) where Update == Result<Success, Failure> {
    self.init(sharing: SharedWork { inlet in start { inlet.finish($0) } })
  }
}

func outcome<Success, Failure: Error>(
  of work: () async throws(Failure) -> Success
) async -> Result<Success, Failure> {
  do throws(Failure) {
    return .success(try await work())
  } catch {
    return .failure(error)
  }
}

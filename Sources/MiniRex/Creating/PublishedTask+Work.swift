extension Publisher {
  /// Creates a task of shared work.
  ///
  /// See `SharedWork`.
  ///
  /// - Parameter inputs: The lineages of the tasks that the work uses.
  package init(
    of inputs: [Lineage] = [], by function: String = #function, sharing work: SharedWork<Update>
  ) {
    self.init(lineage: .ofOperation(function, on: inputs), value: .none) { work.subscribe($0) }
  }

  /// Creates a task of shared work.
  ///
  /// An instrument sees it as a source if it has a lineage.
  package init(watchedBy lineage: Lineage?, sharing work: SharedWork<Update>) {
    self.init(watchedBy: lineage, value: .none) { work.subscribe($0) }
  }
}

extension Publisher where Kind == TaskKind {
  /// Creates a task from an async function.
  ///
  /// ```swift
  /// let user = PublishedTask { () async throws(FetchError) in try await fetch(id) }
  /// ```
  ///
  /// The first subscriber starts the work in a separate Swift task, and all subscribers share it.
  /// Canceling the last subscription before the result cancels that Swift task and ignores its
  /// result. The next subscriber starts a new run. To wait until canceled work has returned, see
  /// `invalidateAndWait()`. A closure without an explicit failure type has the
  /// failure `any Error`.
  public init<Success: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) where Update == Result<Success, Failure> {
    self.init(.whileSubscribed, work)
  }

  /// Creates a task from an async function, with a lifetime for its work.
  ///
  /// With ``TaskLifetime/keepsRunning``, the first subscriber still starts the work, but nothing
  /// cancels it. See the initializer without a lifetime for the rest.
  public init<Success: Sendable, Failure: Error>(
    _ lifetime: TaskLifetime, _ work: @escaping @Sendable () async throws(Failure) -> Success
  ) where Update == Result<Success, Failure> {
    self.init(
      sharing: SharedWork(lifetime) { inlet in
        WorkHandle.run {
          await outcome(of: work)
        } finish: {
          inlet.finish($0)
        }
      })
  }

  /// Creates a task from a function that calls back.
  ///
  /// - Parameter start: A closure that runs once for the first subscriber, inside `subscribe`. It
  ///   may call `finish` on any thread, and the first call counts. The returned subscription is
  ///   canceled once: after the result, or after the last subscriber canceled. A caller that waits
  ///   for the work waits until that cancellation has returned. If `finish` is released without a
  ///   call, the task ends without a result, and the next subscriber starts a new run.
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

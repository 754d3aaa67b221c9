extension Publisher where Kind: StreamKind {
  /// Returns a task that finishes with the first update.
  ///
  /// ![first emits the first update and finishes](first.svg)
  ///
  /// The first update of a published value is its current value. Subscribers share one
  /// subscription, which ends with the first update or with the last subscriber. The task ends
  /// without a result if the source finishes without an update.
  public func first() -> PublishedTask<Update, Never> {
    first { _ in true }
  }

  /// Returns a task that finishes with the first update that satisfies `isIncluded`.
  ///
  /// ![first where waits for an update that passes](first-where.svg)
  ///
  /// See ``first()``.
  public func first(
    where isIncluded: @escaping @Sendable (Update) -> Bool
  ) -> PublishedTask<Update, Never> {
    PublishedTask<Update, Never>(
      of: lineages,
      sharing: SharedWork { inlet, bag in
        let hasFound = SerialState(false)
        follow { update in
          if unsafe hasFound.value || !isIncluded(update) { return }
          unsafe hasFound.value = true
          inlet.finish(.success(update))
        }.store(in: bag)
      })
  }
}

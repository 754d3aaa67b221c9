extension Publisher where Kind: StreamKind {
  /// A task that finishes with the first update.
  ///
  /// Of a published value that is the current one. It is shared: it subscribes with its first
  /// subscriber, for all of them, and leaves when it has the update or the last of them has left.
  /// It ends without a result if the source ends before.
  public func first() -> PublishedTask<Update, Never> {
    first { _ in true }
  }

  /// A task that finishes with the first update that `isIncluded` says yes to.
  ///
  /// Otherwise it is like ``first()``.
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

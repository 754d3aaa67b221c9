extension Publisher {
  /// A broadcaster of the same updates, without the promise of the kind.
  ///
  /// ![broadcaster removes the kind, and with it the duplicate check](broadcaster.svg)
  @inlinable
  public var broadcaster: Broadcaster<Update> {
    Broadcaster(lineage: lineage, value: .none, connect: connect)
  }
}

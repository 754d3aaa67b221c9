extension Publisher {
  /// A broadcaster of the same updates, without the promise of the kind.
  @inlinable
  public var broadcaster: Broadcaster<Update> {
    Broadcaster(lineage: lineage, current: { nil }, connect: connect)
  }
}

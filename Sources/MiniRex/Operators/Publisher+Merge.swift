/// Emits the updates of all publishers, in one order.
///
/// ```swift
/// let commands = merge(keys.publisher, clicks.publisher.map { "click at \($0)" })
/// ```
///
/// ![merge combines several publishers into one order, and finishes with the last of
/// them](merge.svg)
///
/// Publishers of any kind act as broadcasters, and are subscribed in the given order. It finishes
/// when all of them have finished, and without publishers immediately.
@inlinable
public func merge<Update: Sendable, each Kind: PublisherKind>(
  _ publisher: repeat Publisher<Update, each Kind>
) -> Broadcaster<Update> {
  var publishers: [Broadcaster<Update>] = []
  repeat publishers.append((each publisher).broadcaster)
  return merge(publishers)
}

/// Emits the updates of all publishers, in one order.
///
/// They are subscribed in the order of the array. It finishes when all of them have finished, and
/// without publishers immediately.
@inlinable
public func merge<Update: Sendable, Kind: PublisherKind>(
  _ publishers: [Publisher<Update, Kind>]
) -> Broadcaster<Update> {
  Publisher(lineage: .ofOperation(on: publishers.flatMap(\.lineages)), value: .none) {
    receive in
    let source = BroadcastSource<Update>(lineage: nil)
    let gate = source.publisher.subscribe(receive)
    let inputs = publishers.map { $0.follow { source.broadcast($0) } }
    return Subscription(gate: gate, inputs: inputs)
  }
}

extension Publisher {
  /// Emits the updates of this publisher and of others, in one order.
  ///
  /// The method form of the function `merge`.
  @inlinable
  public func merge<each OtherKind: PublisherKind>(
    with other: repeat Publisher<Update, each OtherKind>
  ) -> Broadcaster<Update> {
    MiniRex.merge(self, repeat each other)
  }
}

extension Publisher where Kind == BroadcasterKind {
  /// A broadcaster that never calls and never ends.
  public static var never: Broadcaster<Update> {
    let delivery = Delivery<Update>()
    return Publisher(current: { nil }) { delivery.subscribe($0) }
  }

  /// A broadcaster that calls with each of the updates inside `subscribe`, and then ends.
  public static func sequence(_ updates: [Update]) -> Broadcaster<Update> {
    Publisher(current: { nil }) { receive in
      for update in updates { receive(update) }
      return .ended
    }
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// A published value that never changes: it calls once inside `subscribe`, and then ends.
  public static func constant(_ value: Update) -> PublishedValue<Update> {
    Publisher(current: { value }) { receive in
      receive(value)
      return .ended
    }
  }

  /// Makes a published value of something that can be read and a broadcaster of its changes.
  ///
  /// - Parameters:
  ///   - initial: Reads the current value: for each subscriber once, inside `subscribe`.
  ///   - changes: Tells each new value. It is subscribed to before `initial` is called, so that no
  ///     change is lost; one that comes between the two may repeat what `initial` has seen.
  public init(
    initial: @escaping @Sendable () -> Update, changes: Broadcaster<Update>
  ) {
    let changeTest = ChangeTest<Update>()
    self.init(of: changes, by: "PublishedValue", current: initial) { receive in
      let delivery = Delivery<Update>()
      let sentinel = Sentinel { delivery.end() }
      let gate = Subscription(delivery, place: Subscription.nowhere)
      let receive = skippingDuplicates(changeTest, receive)
      let input = delivery.subscribe(gate, receive) {
        let input = changes.follow { change in
          withExtendedLifetime(sentinel) { _ = delivery.send(change) }
        }
        receive(initial())
        return input
      }
      return Subscription(gate: gate, inputs: [input])
    }
  }
}

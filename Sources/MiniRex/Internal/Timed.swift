/// What happens to one subscription of an operator that keeps time.
enum TimedEvent<Update: Sendable>: Sendable {
  case update(Update, at: Duration)
  /// The alarm, with the instant to which it was set.
  case ring(at: Duration)
  /// The publisher has ended.
  case end
}

extension Publisher {
  /// Subscribes for an operator that keeps time.
  ///
  /// Updates, alarms and the end come from different threads. They pass through a delivery, so that
  /// `react` sees them one at a time and in one order, and needs no lock for what it remembers.
  ///
  /// - Parameter react: Calls the subscriber at most once, so that one who ends the subscription in
  ///   that call is not called again. Returns false when the operator has ended.
  func follow(
    by timekeeper: Timekeeper,
    reacting react: @escaping @Sendable (TimedEvent<Update>, Alarm) -> Bool
  ) -> Subscription {
    let delivery = Delivery<TimedEvent<Update>>(isOpen: true)
    let alarm = Alarm(timekeeper) { delivery.send(.ring(at: $0)) }
    let gate = delivery.subscribe { event in
      if react(event, alarm) { return }
      alarm.end()
      delivery.end()
    }
    let sentinel = Sentinel { delivery.send(.end) }
    let input = follow { update in
      withExtendedLifetime(sentinel) {
        _ = delivery.send(.update(update, at: timekeeper.now()))
      }
    }
    return Subscription(gate: gate, inputs: [input, Subscription { alarm.end() }])
  }
}

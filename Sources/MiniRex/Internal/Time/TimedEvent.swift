/// An event of one subscription to a timed operator.
enum TimedEvent<Update: Sendable>: Sendable {
  case update(Update, at: Duration)
  /// The alarm rang, with the instant to which it was set.
  case ring(at: Duration)
  /// The publisher finished.
  case end
}

extension Publisher {
  /// Subscribes for a timed operator.
  ///
  /// Updates, alarms, and the end arrive on different threads. They pass through a delivery, so
  /// that `react` runs serially and needs no lock for its state.
  ///
  /// - Parameter react: A closure that calls the subscriber at most once, so that a cancellation
  ///   inside that call takes effect. It returns `false` when the operator has finished.
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

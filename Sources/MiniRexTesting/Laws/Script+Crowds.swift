internal import MiniRex

extension Script {
  static let crowd = Script("two threads send while two threads subscribe and cancel.") { trial in
    let count = 50
    let last = 1_000
    let steady = try [trial.subscribe(), trial.subscribe()]
    trial.log.stopDrawing()
    let begun = Lock([0, 0])
    let joiners = Lock<[(subscriber: TrialSubscriber, begun: [Int])]>([])
    let send: @Sendable (Int) -> Void = { thread in
      for number in 1...count {
        begun.withLock { $0[thread] = number }
        trial.send(2 * number + thread)
      }
    }
    try trial.together([
      { send(0) }, { send(1) },
      {
        for round in 0..<20 {
          let passer = trial.join()
          passer.expect(.anything)
          passer.cancel(by: round.isMultiple(of: 2) ? .invalidate : .drop)
        }
      },
      {
        for _ in 0..<10 {
          let joiner = trial.join()
          joiner.expect(.anything)
          let before = begun.withLock { $0 }
          joiners.withLock { $0.append((joiner, before)) }
        }
      },
    ])
    for subscriber in steady { subscriber.expect(.anything) }
    trial.send(last)
    let stayers = joiners.withLock { $0 }
    for subscriber in steady + stayers.map(\.subscriber) {
      try trial.require(.order, "'\(subscriber.name)' did not receive the last update.") {
        subscriber.events.last == .update(last)
      }
    }
    try trial.check(.order)
    if !trial.driver.conflates {
      let order = try trial.order(of: steady, from: 2, count: count)
      for (joiner, begun) in stayers {
        let numbers = joiner.changes(isValue: trial.isValue)
        let before = order.prefix(max(0, order.count - numbers.count))
        // A value may join later, if no update after its first value is missing.
        let missed =
          if trial.isValue {
            before.count > (order.firstIndex { $0 == joiner.events.first?.number } ?? -1) + 1
          } else {
            before.contains { $0 / 2 > begun[$0 % 2] }
          }
        if missed || numbers != Array(order.suffix(numbers.count)) {
          throw Broken(
            law: trial.isValue ? .gap : .joining,
            words: "'\(joiner.name)' missed an update, or received an unexpected update.")
        }
      }
    }
    try trial.close()
  }
}

extension TrialSubscriber {
  fileprivate func changes(isValue: Bool) -> [Int] {
    Array(events.compactMap(\.number).dropFirst(isValue ? 1 : 0))
  }
}

extension Trial {
  /// Returns the common order of the updates of the steady subscribers.
  fileprivate func order(
    of steady: [TrialSubscriber], from threads: Int, count: Int
  ) throws -> [Int] {
    let orders = steady.map { $0.changes(isValue: isValue) }
    if orders.contains(where: { $0 != orders[0] }) {
      throw Broken(law: .order, words: "Two subscribers received different orders.")
    }
    let order = orders[0]
    for thread in 0..<threads {
      let own = order.dropLast().filter { $0 % threads == thread }
      if own != (1...count).map({ threads * $0 + thread }) {
        throw Broken(
          law: .order, words: "The updates of one thread arrived in the order \(own).")
      }
    }
    return order
  }
}

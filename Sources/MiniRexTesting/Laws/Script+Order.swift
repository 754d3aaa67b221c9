internal import MiniRex

extension Script {
  static let nothingIsSent = Script("the driver sends no update.") { trial in
    _ = try trial.subscribe()
    try trial.close()
  }

  static let threeUpdates = Script("three subscribers, three updates.") { trial in
    let sender = ThreadID.current
    let calls = Lock<[(name: String, isOnSender: Bool)]>([])
    let note: TrialSubscriber.Reaction = { subscriber, _ in
      calls.withLock { $0.append((subscriber.name, .current == sender)) }
    }
    let all = try (0..<3).map { _ in try trial.subscribe(note) }
    for number in 1...3 {
      calls.withLock { $0 = [] }
      try trial.send(number, to: all[0], all[1], all[2])
      let calls = calls.withLock { $0.filter(\.isOnSender) }
      if calls.count == all.count, calls.map(\.name) != all.map(\.name) {
        let names = calls.map(\.name).joined(separator: ", ")
        throw Broken(law: .registration, words: "The update was delivered in the order \(names).")
      }
    }
    try trial.close()
  }

  static let lateSubscribers = Script("subscribers join after the first update.") { trial in
    trial.send(1)
    let early = try trial.subscribe()
    try trial.send(2, to: early, or: .joining)
    let late = try trial.subscribe()
    try trial.check(.joining)
    try trial.send(3, to: early, late, or: .joining)
    try trial.close()
  }

  static let callbackSends = Script("a callback sends the next update.") { trial in
    let sender = ThreadID.current
    let calls = Lock<[(event: TrialEvent, isOnSender: Bool)]>([])
    let send: TrialSubscriber.Reaction = { subscriber, event in
      calls.withLock { $0.append((event, .current == sender)) }
      guard subscriber.name == "a", let number = event.number, 1..<3 ~= number else { return }
      trial.send(number + 1, or: .free)
    }
    let all = try [trial.subscribe(send), trial.subscribe(send)]
    calls.withLock { $0 = [] }
    for subscriber in all { trial.expect(1...3, for: subscriber) }
    trial.send(1)
    try trial.check(.reentrancy)
    let order = calls.withLock { $0 }
    let numbers = order.compactMap(\.event.number)
    if order.allSatisfy(\.isOnSender), numbers != numbers.sorted() {
      throw Broken(
        law: .reentrancy,
        words: "An update was delivered before every subscriber had the previous update.")
    }
    try trial.close()
  }

  static let firstCallbackSends = Script(
    "the first callback sends, inside subscribe for a published value."
  ) { trial in
    let subscriber = trial.join { _, event in
      if event == .update(trial.isValue ? 0 : 1) { trial.send(2, or: .free) }
    }
    if trial.isValue {
      subscriber.expect([.update(0), .update(2)])
    } else {
      subscriber.expect([.update(1), .update(2)])
      trial.send(1)
    }
    try trial.check(.reentrancy)
    try trial.close()
  }

  static let callbackSubscribes = Script("a callback adds a subscriber.") { trial in
    let joined = Lock<TrialSubscriber?>(nil)
    let first = try trial.subscribe { _, event in
      guard event == .update(1) else { return }
      let nested = trial.join(expecting: trial.isValue ? [.update(1)] : [])
      joined.withLock { $0 = nested }
    }
    first.expect([.update(1)])
    trial.send(1)
    // The subscriber exists earlier, but receives only updates sent after it has subscribed.
    try trial.require(.free, "'b' did not subscribe.") { joined.withLock { $0 } != nil }
    try trial.check(.joining)
    if let nested = joined.withLock({ $0 }) { try trial.send(2, to: first, nested, or: .joining) }
    try trial.close()
  }

  static let threadSendsDuringCallback = Script(
    "another thread sends and subscribes while a callback runs."
  ) { trial in
    let hasBegun = Lock(false)
    let isDone = Lock(false)
    let first = try trial.subscribe { _, event in
      guard event == .update(1) else { return }
      startThread {
        let late = trial.join()
        late.expect(.run(to: 2, conflates: trial.driver.conflates))
        hasBegun.withLock { $0 = true }
        trial.send(2)
        isDone.withLock { $0 = true }
      }
      trial.pause(atMost: trial.limit) { hasBegun.withLock { $0 } }
      // A publisher may make a concurrent sender wait for a while.
      trial.pause(atMost: .milliseconds(50)) { isDone.withLock { $0 } }
    }
    let second = try trial.subscribe()
    for subscriber in [first, second] { trial.expect(1...2, for: subscriber) }
    trial.send(1)
    try trial.require(.sender, "A thread that sends and subscribes is blocked.") {
      isDone.withLock { $0 }
    }
    try trial.check(.order)
    try trial.close()
  }
}

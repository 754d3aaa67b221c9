internal import MiniRex

extension Script {
  static let someLeave = Script("some leave, others stay, and one comes again.") { trial in
    let first = try trial.subscribe()
    let second = try trial.subscribe()
    let third = try trial.subscribe()
    try trial.send(1, to: first, second, third)
    first.leave()
    first.leave()
    try trial.send(2, to: second, third, or: .once)
    second.leave(by: .drop)
    try trial.send(3, to: third, or: .once)
    third.leave(by: .wait)
    trial.send(4)
    try trial.check(.invalidate)
    let again = try trial.subscribe()
    try trial.send(5, to: again, or: .joining)
    if first.isSubscribed || !again.isSubscribed {
      throw Broken(law: .once, words: "A token does not know whether it is subscribed.")
    }
    try trial.close()
  }

  static let callbacksLeave = Script("callbacks end their own subscriptions.") { trial in
    let ways: [TrialSubscriber.WayOut] = [.invalidate, .drop, .wait]
    let leavers = try ways.map { way in
      try trial.subscribe { subscriber, event in
        if event == .update(1) { subscriber.leave(by: way) }
      }
    }
    let stayer = try trial.subscribe()
    try trial.send(1, to: leavers[0], leavers[1], leavers[2], stayer, or: .once)
    try trial.send(2, to: stayer, or: .once)
    try trial.close()
  }

  static let threadLeavesMeanwhile = Script(
    "another thread ends a subscription while its callback runs."
  ) { trial in
    let sender = ThreadID.current
    let hasLeft = Lock(false)
    let hasWaited = Lock(false)
    let first = try trial.subscribe { subscriber, event in
      guard event == .update(1) else { return }
      let isInTurn = ThreadID.current == sender && trial.driver.flush == nil
      startThread {
        subscriber.leave()
        hasLeft.withLock { $0 = true }
        if isInTurn { subscriber.waitOutside() }
        hasWaited.withLock { $0 = true }
      }
      if !trial.wait({ hasLeft.withLock { $0 } }) {
        trial.log.note(.once, "invalidate() waits for the callback of 'a'.")
      }
      // A wait that is none gets the time to show it.
      if isInTurn { trial.pause(atMost: .milliseconds(2)) { hasWaited.withLock { $0 } } }
    }
    let second = try trial.subscribe()
    try trial.send(1, to: first, second)
    try trial.require(.invalidateAndWait, "invalidateAndWait() does not return.") {
      hasWaited.withLock { $0 }
    }
    try trial.send(2, to: second, or: .once)
    try trial.close()
  }

  static let threadsLeaveAtOnce = Script("four threads end a subscription at once, and one sends.")
  { trial in
    for round in 0..<5 {
      let leaver = try trial.subscribe()
      let stayer = try trial.subscribe()
      try trial.together(
        (0..<5).map { index in
          { if index == 0 { trial.send(2 * round + 1) } else { leaver.leave(by: .wait) } }
        })
      leaver.expect(.anything)
      stayer.expect([.update(2 * round + 1)])
      try trial.check(.once)
      try trial.send(2 * round + 2, to: stayer, or: .once)
      stayer.leave()
    }
    try trial.close()
  }

  static let capturesGo = Script("the callback and its captures go with the subscription.") {
    trial in
    let sender = ThreadID.current
    for way in [TrialSubscriber.WayOut.invalidate, .drop, .wait] {
      let isOnSender = Lock(false)
      let subscriber = try trial.subscribe { _, _ in
        isOnSender.withLock { $0 = ThreadID.current == sender }
      }
      try trial.send(way == .drop ? 2 : way == .wait ? 3 : 1, to: subscriber)
      subscriber.leave(by: way)
      if isOnSender.withLock({ $0 }), trial.driver.flush == nil, !subscriber.isReleased {
        throw Broken(
          law: .release, words: "What the callback of 'a' has captured outlives its end.")
      }
    }
    try trial.close()
  }
}

internal import MiniRex

extension Script {
  static let someCancel = Script("some subscribers cancel, and one subscribes again.") { trial in
    let first = try trial.subscribe()
    let second = try trial.subscribe()
    let third = try trial.subscribe()
    try trial.send(1, to: first, second, third)
    first.cancel()
    first.cancel()
    try trial.send(2, to: second, third, or: .once)
    second.cancel(by: .drop)
    try trial.send(3, to: third, or: .once)
    third.cancel(by: .wait)
    trial.send(4)
    try trial.check(.invalidate)
    let again = try trial.subscribe()
    try trial.send(5, to: again, or: .joining)
    if first.isSubscribed || !again.isSubscribed {
      throw Broken(law: .once, words: "'isSubscribed' of a subscription is wrong.")
    }
    try trial.close()
  }

  static let callbacksCancel = Script("callbacks cancel their own subscriptions.") { trial in
    let methods: [TrialSubscriber.CancelMethod] = [.invalidate, .drop, .wait]
    let cancelers = try methods.map { method in
      try trial.subscribe { subscriber, event in
        if event == .update(1) { subscriber.cancel(by: method) }
      }
    }
    let stayer = try trial.subscribe()
    try trial.send(1, to: cancelers[0], cancelers[1], cancelers[2], stayer, or: .once)
    try trial.send(2, to: stayer, or: .once)
    try trial.close()
  }

  static let threadCancelsDuringCallback = Script(
    "another thread cancels a subscription while its callback runs."
  ) { trial in
    let sender = ThreadID.current
    let hasCanceled = Lock(false)
    let hasWaited = Lock(false)
    let first = try trial.subscribe { subscriber, event in
      guard event == .update(1) else { return }
      let isInTurn = ThreadID.current == sender && trial.driver.flush == nil
      startThread {
        subscriber.cancel()
        hasCanceled.withLock { $0 = true }
        if isInTurn { subscriber.waitOutside() }
        hasWaited.withLock { $0 = true }
      }
      // Without `flush`, which may wait for the queue of this callback.
      if !trial.pause(atMost: trial.limit, until: { hasCanceled.withLock { $0 } }) {
        trial.log.note(.once, "invalidate() waits for the callback of 'a'.")
      }
      // Give a missing wait the time to show.
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

  static let threadsCancelConcurrently = Script(
    "four threads cancel a subscription concurrently, and one sends."
  ) { trial in
    for round in 0..<5 {
      let canceler = try trial.subscribe()
      let stayer = try trial.subscribe()
      try trial.together(
        (0..<5).map { index in
          { if index == 0 { trial.send(2 * round + 1) } else { canceler.cancel(by: .wait) } }
        })
      canceler.expect(.anything)
      stayer.expect([.update(2 * round + 1)])
      try trial.check(.once)
      try trial.send(2 * round + 2, to: stayer, or: .once)
      stayer.cancel()
    }
    try trial.close()
  }

  static let capturesAreReleased = Script(
    "the callback and its captures are released with the subscription."
  ) {
    trial in
    let sender = ThreadID.current
    for method in [TrialSubscriber.CancelMethod.invalidate, .drop, .wait] {
      // Another thread may still return from a callback, and retains the callback until then.
      let ranElsewhere = Lock(false)
      let subscriber = try trial.subscribe { _, _ in
        if ThreadID.current != sender { ranElsewhere.withLock { $0 = true } }
      }
      try trial.send(method == .drop ? 2 : method == .wait ? 3 : 1, to: subscriber)
      subscriber.cancel(by: method)
      if !ranElsewhere.withLock({ $0 }), trial.driver.flush == nil, !subscriber.isReleased {
        throw Broken(
          law: .release, words: "The captures of the callback of 'a' outlive its subscription.")
      }
    }
    try trial.close()
  }
}

internal import MiniRex

extension Script {
  static let finishes = Script("the task finishes twice, with early and late subscribers.") {
    trial in
    let first = try trial.subscribe(hearingEnd: true)
    let second = try trial.subscribe()
    first.expect([.result(1), .end])
    second.expect([.result(1)])
    trial.finish(1)
    try trial.check(.oneResult)
    try trial.require(.release, "The callback is not released after the result.") {
      first.isReleased && second.isReleased && !second.isSubscribed
    }
    let late = trial.join(hearingEnd: true)
    late.expect([.result(1), .end])
    try trial.check(.oneResult)
    trial.finish(2)
    let later = trial.join()
    later.expect([.result(1)])
    try trial.check(.oneResult)
    try trial.close()
  }

  static let oneCancelsEarly = Script("one subscriber cancels before the result.") { trial in
    let first = try trial.subscribe()
    let second = try trial.subscribe()
    first.cancel()
    try trial.finish(1, to: second)
    try trial.close()
  }

  static let allCancelEarly = Script(
    "all subscribers cancel before the result, and one subscribes again."
  ) { trial in
    try trial.subscribe().cancel(by: .drop)
    try trial.subscribe().cancel(by: .wait)
    try trial.subscribe().cancel()
    try trial.finish(1, to: trial.subscribe(), or: .newRun)
    try trial.close()
  }

  static let lateSubscribersToProgress = Script("a subscriber joins after progress.") { trial in
    let first = try trial.subscribe()
    try trial.send(1, to: first, or: .oneResult)
    try trial.send(2, to: first, or: .oneResult)
    let late = trial.join()
    late.expect([.update(2)])
    try trial.check(.oneResult)
    try trial.send(3, to: first, late, or: .oneResult)
    try trial.finish(4, to: first, late)
    trial.send(5)
    try trial.check(.oneResult)
    try trial.close()
  }

  static let callbackFinishes = Script("a callback reports again, and finishes the task.") {
    trial in
    let first = try trial.subscribe(hearingEnd: true) { _, event in
      guard event == .update(1) else { return }
      trial.send(2, or: .free)
      trial.finish(3, or: .free)
    }
    let second = try trial.subscribe(hearingEnd: true)
    for subscriber in [first, second] {
      subscriber.expect([.update(1), .update(2), .result(3), .end])
    }
    trial.send(1)
    try trial.check(.oneResult)
    try trial.close()
  }

  static let callbacksCancelAtResult = Script("callbacks cancel and subscribe at the result.") {
    trial in
    let methods: [TrialSubscriber.CancelMethod] = [.invalidate, .drop, .wait]
    for method in methods {
      let canceler = try trial.subscribe { subscriber, event in
        if event == .result(1) { subscriber.cancel(by: method) }
      }
      canceler.expect([.result(1)])
    }
    let joiner = try trial.subscribe { _, event in
      if event == .result(1) { _ = trial.join(expecting: [.result(1)]) }
    }
    joiner.expect([.result(1)])
    trial.finish(1)
    try trial.check(.oneResult)
    try trial.close()
  }

  static let endsWithoutResult = Script("the task finishes without a result.") { trial in
    let subscriber = try trial.subscribe(hearingEnd: true)
    subscriber.expect([.end])
    trial.end()
    try trial.check(.end)
    try trial.close()
  }

  static let threadsFinishConcurrently = Script(
    "two threads report and finish while two threads subscribe and cancel."
  ) { trial in
    let steady = try [trial.subscribe(), trial.subscribe()]
    for subscriber in steady { subscriber.expect(.anything) }
    trial.log.stopDrawing()
    let stayers = Lock(steady)
    let work: @Sendable (Int) -> Void = { thread in
      for number in 1...20 { trial.driver.send.map { _ in trial.send(2 * number + thread) } }
      trial.finish(100 + thread)
    }
    try trial.together([
      { work(0) }, { work(1) },
      {
        for round in 0..<10 {
          let passer = trial.join()
          passer.expect(.anything)
          passer.cancel(by: round.isMultiple(of: 2) ? .invalidate : .drop)
        }
      },
      {
        for _ in 0..<10 {
          let joiner = trial.join()
          joiner.expect(.anything)
          stayers.withLock { $0.append(joiner) }
        }
      },
    ])
    for subscriber in stayers.withLock({ $0 }) {
      try trial.require(.oneResult, "'\(subscriber.name)' did not receive a result.") {
        subscriber.hasResult
      }
    }
    try trial.check(.oneResult)
    let orders = steady.map(\.events)
    if orders[0] != orders[1] {
      throw Broken(law: .order, words: "Two subscribers received different orders.")
    }
    for subscriber in stayers.withLock({ $0 }) {
      let events = subscriber.events
      if events != Array(orders[0].suffix(events.count)) {
        throw Broken(
          law: .oneResult,
          words: "'\(subscriber.name)' missed an update, or received an unexpected update.")
      }
    }
    try trial.close()
  }
}

extension TrialSubscriber {
  fileprivate var hasResult: Bool {
    if case .result = events.last { true } else { false }
  }
}

internal import MiniRex

extension Script {
  static let finishes = Script("it finishes, twice, while two wait and before others come.") {
    trial in
    let first = try trial.subscribe(hearingEnd: true)
    let second = try trial.subscribe()
    first.expect([.result(1), .end])
    second.expect([.result(1)])
    trial.finish(1)
    try trial.check(.oneResult)
    try trial.require(.release, "The callback outlives the result.") {
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

  static let oneLeavesEarly = Script("one leaves before it finishes.") { trial in
    let first = try trial.subscribe()
    let second = try trial.subscribe()
    first.leave()
    try trial.finish(1, to: second)
    try trial.close()
  }

  static let allLeaveEarly = Script("all leave before it finishes, and one comes again.") { trial in
    try trial.subscribe().leave(by: .drop)
    try trial.subscribe().leave(by: .wait)
    try trial.subscribe().leave()
    try trial.finish(1, to: trial.subscribe(), or: .newRun)
    try trial.close()
  }

  static let latecomersToProgress = Script("somebody subscribes after progress.") { trial in
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

  static let callbackFinishes = Script("a callback reports once more, and finishes it.") { trial in
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

  static let callbacksLeaveAtResult = Script("callbacks leave and subscribe at the result.") {
    trial in
    let ways: [TrialSubscriber.WayOut] = [.invalidate, .drop, .wait]
    for way in ways {
      let leaver = try trial.subscribe { subscriber, event in
        if event == .result(1) { subscriber.leave(by: way) }
      }
      leaver.expect([.result(1)])
    }
    let joiner = try trial.subscribe { _, event in
      if event == .result(1) { _ = trial.join(expecting: [.result(1)]) }
    }
    joiner.expect([.result(1)])
    trial.finish(1)
    try trial.check(.oneResult)
    try trial.close()
  }

  static let endsWithoutResult = Script("it ends without a result.") { trial in
    let subscriber = try trial.subscribe(hearingEnd: true)
    subscriber.expect([.end])
    trial.end()
    try trial.check(.end)
    try trial.close()
  }

  static let threadsFinishAtOnce = Script(
    "two threads report and finish while two others subscribe and leave."
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
          passer.leave(by: round.isMultiple(of: 2) ? .invalidate : .drop)
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
      try trial.require(.oneResult, "No result has come to '\(subscriber.name)'.") {
        subscriber.hasResult
      }
    }
    try trial.check(.oneResult)
    let orders = steady.map(\.events)
    if orders[0] != orders[1] {
      throw Broken(law: .order, words: "Two subscribers saw different orders.")
    }
    for subscriber in stayers.withLock({ $0 }) {
      let events = subscriber.events
      if events != Array(orders[0].suffix(events.count)) {
        throw Broken(
          law: .oneResult, words: "'\(subscriber.name)' saw what others did not, or missed some.")
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

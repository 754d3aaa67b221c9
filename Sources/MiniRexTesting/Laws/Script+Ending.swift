internal import MiniRex

extension Script {
  static let endsEarly = Script("the publisher finishes without an update.") { trial in
    let subscriber = try trial.subscribe(hearingEnd: true)
    subscriber.expect([.end])
    trial.end()
    try trial.check(.end)
    try trial.close()
  }

  static let endsOnce = Script(
    "the publisher finishes after one subscriber cancels, and another subscribes later."
  ) { trial in
    let first = try trial.subscribe(hearingEnd: true)
    let second = try trial.subscribe(hearingEnd: true)
    let canceler = try trial.subscribe(hearingEnd: true)
    try trial.send(1, to: first, second, canceler)
    canceler.cancel()
    first.expect([.end])
    second.expect([.end])
    trial.end()
    try trial.check(.end)
    try trial.require(.afterEnd, "The callback is not released at the end.") {
      first.isReleased && !first.isSubscribed
    }
    let late = trial.join(hearingEnd: true)
    late.expect(trial.isValue ? [.update(1), .end] : [.end])
    try trial.check(.afterEnd)
    trial.send(2)
    try trial.check(.afterEnd)
    first.cancel()
    try trial.close()
  }

  static let callbackEnds = Script("a callback sends again, and finishes the publisher.") { trial in
    let first = try trial.subscribe(hearingEnd: true) { _, event in
      guard event == .update(1) else { return }
      trial.send(2, or: .free)
      trial.end()
    }
    let second = try trial.subscribe(hearingEnd: true)
    for subscriber in [first, second] { trial.expect(1...2, then: [.end], for: subscriber) }
    trial.send(1)
    try trial.check(.end)
    try trial.close()
  }

  static let threadsEndConcurrently = Script(
    "two threads finish the publisher while one sends and one cancels."
  ) { trial in
    let stayer = try trial.subscribe(hearingEnd: true)
    let canceler = try trial.subscribe(hearingEnd: true)
    try trial.together([
      { trial.end() }, { trial.end() }, { trial.send(1) }, { canceler.cancel() },
    ])
    try trial.require(.end, "'a' did not receive the end.") { stayer.events.last == .end }
    canceler.expect(.anything)
    stayer.expect(.anything)
    try trial.check(.end)
    try trial.close()
  }
}

internal import MiniRex

extension Script {
  static let endsAtOnce = Script("it ends, without an update.") { trial in
    let subscriber = try trial.subscribe(hearingEnd: true)
    subscriber.expect([.end])
    trial.end()
    try trial.check(.end)
    try trial.close()
  }

  static let endsOnce = Script("it ends, when one has left, and another comes after it.") { trial in
    let first = try trial.subscribe(hearingEnd: true)
    let second = try trial.subscribe(hearingEnd: true)
    let leaver = try trial.subscribe(hearingEnd: true)
    try trial.send(1, to: first, second, leaver)
    leaver.leave()
    first.expect([.end])
    second.expect([.end])
    trial.end()
    try trial.check(.end)
    try trial.require(.afterEnd, "The callback outlives the end.") {
      first.isReleased && !first.isSubscribed
    }
    let late = trial.join(hearingEnd: true)
    late.expect(trial.isValue ? [.update(1), .end] : [.end])
    try trial.check(.afterEnd)
    trial.send(2)
    try trial.check(.afterEnd)
    first.leave()
    try trial.close()
  }

  static let callbackEnds = Script("a callback sends once more, and ends it.") { trial in
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

  static let threadsEndAtOnce = Script(
    "two threads end it, one sends, and one subscriber leaves, at once."
  ) { trial in
    let stayer = try trial.subscribe(hearingEnd: true)
    let leaver = try trial.subscribe(hearingEnd: true)
    try trial.together([
      { trial.end() }, { trial.end() }, { trial.send(1) }, { leaver.leave() },
    ])
    try trial.require(.end, "'a' was not told the end.") { stayer.events.last == .end }
    leaver.expect(.anything)
    stayer.expect(.anything)
    try trial.check(.end)
    try trial.close()
  }
}

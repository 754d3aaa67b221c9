internal import MiniRex

/// One run of a script on a separate publisher.
final class Trial: Sendable {
  let log = TrialLog()
  let driver: LawDriver
  let kind: KindUnderTest
  let limit: Duration
  private let publisher: Lock<PublisherUnderTest?>
  private let subscribers = Lock<[TrialSubscriber]>([])
  /// The last value sent to a published value, or `nil` after its end, when the value is unspecified.
  private let value = Lock<Int?>(0)

  init(of publisher: PublisherUnderTest, within limit: Duration) {
    self.publisher = Lock(publisher)
    driver = publisher.driver
    kind = publisher.kind
    self.limit = limit
  }

  var isValue: Bool { kind == .publishedValue }

  /// Adds a subscriber, possibly while updates are delivered.
  ///
  /// - Parameters:
  ///   - events: The expected events, set before the subscription because callbacks may run on other
  ///     threads.
  ///   - react: Called in each callback.
  func join(
    expecting events: [TrialEvent] = [], hearingEnd: Bool = false,
    _ react: @escaping TrialSubscriber.Reaction = { _, _ in }
  ) -> TrialSubscriber {
    let names = Array("abcdefghijklmnopqrstuvwxyz")
    let subscriber = subscribers.withLock { all in
      let name = all.count < names.count ? "\(names[all.count])" : "\(all.count)"
      let subscriber = TrialSubscriber(name, log)
      subscriber.expect(events)
      all.append(subscriber)
      return subscriber
    }
    if let publisher = publisher.withLock({ $0 }) {
      subscriber.subscribe(to: publisher, hearingEnd: hearingEnd, react)
    }
    return subscriber
  }

  /// Adds a subscriber while no update is delivered, so that its first update is known.
  func subscribe(
    hearingEnd: Bool = false, _ react: @escaping TrialSubscriber.Reaction = { _, _ in }
  ) throws -> TrialSubscriber {
    let subscriber = join(hearingEnd: hearingEnd, react)
    guard isValue else { return subscriber }
    let first = value.withLock { $0 }.map { [TrialEvent.update($0)] } ?? []
    if current() != nil, subscriber.events.isEmpty {
      throw Broken(
        law: .promise, words: "'\(subscriber.name)' received no value inside 'subscribe'.")
    }
    subscriber.expect(first)
    try check(.gap)
    return subscriber
  }

  func current() -> Int? {
    guard let publisher = publisher.withLock({ $0 }) else { return nil }
    return log.call(.free, "Reading the current value") { publisher.current() }
  }

  func send(_ number: Int, or law: Law = .sender) {
    log.open(TrialEvent.letter(of: number))
    value.withLock { if $0 != nil { $0 = number } }
    log.call(law, "Sending \(number)") { driver.send?(number) }
  }

  func finish(_ number: Int, or law: Law = .sender) {
    log.open(TrialEvent.letter(of: number))
    log.call(law, "Finishing with \(number)") { driver.finish?(number) }
  }

  func end() {
    log.open("|")
    value.withLock { $0 = nil }
    log.call(.sender, "Ending") { driver.end?() }
  }

  /// Expects updates, or some of them if the publisher conflates.
  func expect(
    _ numbers: ClosedRange<Int>, then rest: [TrialEvent] = [], for subscriber: TrialSubscriber
  ) {
    if driver.conflates {
      subscriber.expect(.run(to: numbers.upperBound, conflates: true, then: rest))
    } else {
      subscriber.expect(numbers.map { .update($0) } + rest)
    }
  }

  /// Sends, and waits until the subscribers have the update.
  func send(_ number: Int, to subscribers: TrialSubscriber..., or law: Law = .order) throws {
    for subscriber in subscribers { subscriber.expect([.update(number)]) }
    send(number)
    try check(law)
  }

  func finish(
    _ number: Int, to subscribers: TrialSubscriber..., or law: Law = .oneResult
  ) throws {
    for subscriber in subscribers { subscriber.expect([.result(number)]) }
    finish(number)
    try check(law)
  }

  func dropPublisher() {
    // Release the publisher outside the lock.
    _ = publisher.withLock { $0.take() }
  }

  /// Releases the publisher and the subscriptions after a script, which may hang.
  func abandon() {
    dropPublisher()
    for subscriber in subscribers.withLock({ $0 }) { subscriber.abandon() }
  }

  /// Waits until every subscriber has exactly its expected updates.
  ///
  /// - Parameter law: The rule to report otherwise.
  func check(_ law: Law) throws {
    let subscribers = subscribers.withLock { $0 }
    for subscriber in subscribers {
      let expectation = subscriber.expectation
      wait { expectation.isComplete(subscriber.events) }
      try log.throwIfBroken()
      let events = subscriber.events
      if expectation.isMet(by: events) { continue }
      let words =
        "'\(subscriber.name)' received \(events.words). Expected: \(expectation.words)."
      // An operator drops an update for all subscribers.
      let mayDrop = subscribers.allSatisfy { $0.expectation.isMissing(from: $0.events) }
      throw Broken(
        law: expectation.isMet(by: events + [.end]) ? .end : law,
        words: mayDrop ? "\(words)\n\(TrialExpectation.advice)" : words)
    }
    guard isValue, !subscribers.isEmpty, let current = current() else { return }
    if let value = value.withLock({ $0 }), value != current {
      throw Broken(law: .agreement, words: "The current value is \(current) instead of \(value).")
    }
  }

  /// Waits for a condition.
  ///
  /// - Returns: `false` after the time limit.
  @discardableResult
  func wait(_ isTrue: () -> Bool) -> Bool {
    pause(atMost: limit, flushing: true, until: isTrue)
  }

  /// Waits for a condition that may stay false.
  @discardableResult
  func pause(atMost limit: Duration, flushing: Bool = false, until isTrue: () -> Bool) -> Bool {
    let end = ContinuousClock.now + limit
    while !isTrue() {
      if flushing, let flush = driver.flush { log.call(.sender, "'flush'") { flush() } }
      if isTrue() { return true }
      if ContinuousClock.now > end { return false }
      lookAgainSoon()
    }
    return true
  }

  /// Throws if the condition stays false until the time limit.
  func require(_ law: Law, _ words: String, _ isTrue: () -> Bool) throws {
    let isTrue = wait(isTrue)
    try log.throwIfBroken()
    if !isTrue { throw Broken(law: law, words: words) }
  }

  /// Runs the bodies concurrently, each on a separate thread, and waits for all.
  func together(_ bodies: [@Sendable () -> Void]) throws {
    let waiting = Lock(bodies.count)
    let running = Lock(bodies.count)
    for body in bodies {
      startThread {
        waiting.withLock { $0 -= 1 }
        while waiting.withLock({ $0 }) > 0 { lookAgainNow() }
        body()
        running.withLock { $0 -= 1 }
      }
    }
    try require(.sender, "Threads that send, subscribe, and cancel are blocked.") {
      running.withLock { $0 } == 0
    }
  }

  /// Cancels all subscriptions, and checks that every object is released.
  func close() throws {
    let all = subscribers.withLock { $0 }
    for subscriber in all where !subscriber.hasCanceled { subscriber.cancel() }
    dropPublisher()
    for subscriber in all {
      try require(
        .release, "The captures of the callback of '\(subscriber.name)' are not released."
      ) {
        subscriber.isReleased
      }
    }
    try require(.drop, "An upstream subscription is still active.") {
      driver.subscriberCount.map { $0() == 0 } ?? true
    }
  }
}

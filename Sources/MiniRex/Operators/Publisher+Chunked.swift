extension Publisher where Kind: StreamKind {
  /// Calls with so many updates at a time.
  ///
  /// ```swift
  /// let rows = readings.chunked(by: 100).map { insert($0) }
  /// ```
  ///
  /// What is left when the publisher ends is delivered then, as a chunk that is shorter; an empty
  /// one is never told. It gives a broadcaster, even of a published value, whose first value is the
  /// first of the first chunk. It calls where the publisher does. Each subscriber begins anew, and
  /// keeps fewer updates than `count`, which go with its subscription. A `count` below 1 stops the
  /// program; with `.max` all come at the end.
  @inlinable
  public func chunked(by count: Int) -> Broadcaster<[Update]> {
    if count < 1 { misuse("'chunked' takes a count of 1 or more, not \(count).") }
    return Broadcaster<[Update]>(trusting: self) { receive in
      let chunk = SerialState<[Update]>([])
      return follow { update in
        unsafe chunk.value.append(update)
        if unsafe chunk.value.count == count { receive(chunk.takeChunk()) }
      } onEnd: {
        if unsafe !chunk.value.isEmpty { receive(chunk.takeChunk()) }
      }
    }
  }

  /// Calls with what has come within an interval.
  ///
  /// ```swift
  /// let lines = log.chunked(every: .seconds(1), clock: clock)
  /// ```
  ///
  /// An interval begins with the first update of a chunk, so no update waits for longer, and
  /// nothing is told while nothing comes: a chunk is never empty. What is left when the publisher
  /// ends is delivered at once. It gives a broadcaster, even of a published value. It calls where
  /// the clock does, and with what is left, where the publisher does. Each subscriber has one
  /// timer, which ends with its subscription and with the publisher, as does what waits. That has
  /// no limit but the interval: `chunked(by:every:clock:)` has one.
  ///
  /// - Parameters:
  ///   - interval: With 0, a chunk is delivered when the clock is next able to; a negative one
  ///     stops the program.
  ///   - clock: The only source of time.
  public func chunked(
    every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<[Update]> {
    chunked(until: .max, every: interval, clock)
  }

  /// Calls with so many updates at a time, or with those that have come within an interval.
  ///
  /// ```swift
  /// let batches = events.chunked(by: 100, every: .seconds(1), clock: clock)
  /// ```
  ///
  /// A chunk is delivered where the publisher calls as soon as it is full; otherwise this is like
  /// `chunked(every:clock:)`. Each subscriber keeps fewer updates than `count`.
  ///
  /// - Parameters:
  ///   - count: One below 1 stops the program.
  ///   - interval: With 0, a chunk is delivered when the clock is next able to; a negative one
  ///     stops the program.
  ///   - clock: The only source of time.
  public func chunked(
    by count: Int, every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<[Update]> {
    if count < 1 { misuse("'chunked' takes a count of 1 or more, not \(count).") }
    return chunked(until: count, every: interval, clock)
  }

  private func chunked(
    until count: Int, every interval: Duration, _ clock: any Clock<Duration>
  ) -> Broadcaster<[Update]> {
    let interval = clampedWait(interval, of: "chunked")
    let timekeeper = Timekeeper(clock)
    return Broadcaster<[Update]>(trusting: self) { receive in
      let chunk = SerialState<[Update]>([])
      let deadline = SerialState(Duration.zero)
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          unsafe chunk.value.append(update)
          if unsafe chunk.value.count == count {
            receive(chunk.takeChunk())
          } else if unsafe chunk.value.count == 1 {
            unsafe deadline.value = now + interval
            unsafe alarm.set(to: deadline.value)
          }
          return true
        case .ring(let instant):
          // An alarm that was set for a chunk which has become full is not the one for the next.
          if unsafe !chunk.value.isEmpty, unsafe deadline.value <= instant {
            receive(chunk.takeChunk())
          }
          return true
        case .end:
          if unsafe !chunk.value.isEmpty { receive(chunk.takeChunk()) }
          return false
        }
      }
    }
  }
}

extension SerialState {
  /// What is there, which begins anew.
  @inlinable
  func takeChunk<Element>() -> [Element] where Value == [Element] {
    defer { unsafe value = [] }
    return unsafe value
  }
}

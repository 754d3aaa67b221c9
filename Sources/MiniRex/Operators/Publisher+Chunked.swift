extension Publisher where Kind: StreamKind {
  /// Collects updates into arrays of `count`.
  ///
  /// ```swift
  /// let rows = readings.chunked(by: 100).map { insert($0) }
  /// ```
  ///
  /// ![chunked by two emits with each second update, and the rest at the end](chunked.svg)
  ///
  /// When the publisher finishes, the remaining updates form a shorter chunk. A chunk is never
  /// empty. The result is a broadcaster, even for a published value, whose current value is the
  /// first element of the first chunk. Callbacks run where the publisher runs them. Each subscriber
  /// collects separately, and keeps fewer than `count` updates, which are released with its
  /// subscription. Traps if `count` is less than 1. With `.max`, one chunk arrives at the end.
  @inlinable
  public func chunked(by count: Int) -> Broadcaster<[Update]> {
    if count < 1 { misuse("'chunked' requires a count of 1 or more, not \(count).") }
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

  /// Collects the updates of an interval into an array.
  ///
  /// ```swift
  /// let lines = log.chunked(every: .seconds(1), clock: clock)
  /// ```
  ///
  /// ![chunked every starts an interval with its first update, and emits the rest at the
  /// end](chunked-every.svg)
  ///
  /// An interval starts with the first update of a chunk. No update waits longer than the interval,
  /// and a chunk is never empty. When the publisher finishes, the remaining updates are delivered
  /// immediately. The result is a broadcaster, even for a published value. Callbacks run where the
  /// clock runs them. The last chunk is delivered where the publisher finishes. Each subscriber has
  /// one timer, which stops with its subscription. The size of a chunk is unbounded: use
  /// `chunked(by:every:clock:)` for a bound.
  ///
  /// - Parameters:
  ///   - interval: The length of an interval. With 0, a chunk is delivered as soon as the clock
  ///     runs. Traps if negative.
  ///   - clock: The only source of time.
  public func chunked(
    every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<[Update]> {
    chunked(until: .max, every: interval, clock)
  }

  /// Collects updates into arrays of `count`, or of the updates of an interval.
  ///
  /// ```swift
  /// let batches = events.chunked(by: 100, every: .seconds(1), clock: clock)
  /// ```
  ///
  /// ![chunked by and every emits a full chunk, or the chunk of a full
  /// interval](chunked-by-every.svg)
  ///
  /// A full chunk is delivered where the publisher emits. See `chunked(every:clock:)` for other
  /// chunks. Each subscriber keeps fewer than `count` updates.
  ///
  /// - Parameters:
  ///   - count: The maximum size of a chunk. Traps if less than 1.
  ///   - interval: The length of an interval. With 0, a chunk is delivered as soon as the clock
  ///     runs. Traps if negative.
  ///   - clock: The only source of time.
  public func chunked(
    by count: Int, every interval: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Broadcaster<[Update]> {
    if count < 1 { misuse("'chunked' requires a count of 1 or more, not \(count).") }
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
      // The end of an interval has no sender, so the chunk has the values of its newest sender.
      let newest = SerialState<Carried<Void>?>(nil)
      @Sendable func deliverChunk() {
        let carried = unsafe newest.value.take()
        carried?.deliver { receive(chunk.takeChunk()) }
      }
      return follow(by: timekeeper) { event, alarm in
        switch event {
        case .update(let update, let now):
          unsafe chunk.value.append(update)
          unsafe newest.value = Carried(())
          if unsafe chunk.value.count == count {
            deliverChunk()
          } else if unsafe chunk.value.count == 1 {
            unsafe deadline.value = now + interval
            unsafe alarm.set(to: deadline.value, from: now)
          }
          return true
        case .ring(let instant):
          // An alarm of a chunk that has become full must not deliver the next chunk early.
          if unsafe !chunk.value.isEmpty, unsafe deadline.value <= instant { deliverChunk() }
          return true
        case .end:
          if unsafe !chunk.value.isEmpty { deliverChunk() }
          return false
        }
      }
    }
  }
}

extension SerialState {
  /// Returns the collected updates, and starts an empty chunk.
  @inlinable
  func takeChunk<Element>() -> [Element] where Value == [Element] {
    defer { unsafe value = [] }
    return unsafe value
  }
}

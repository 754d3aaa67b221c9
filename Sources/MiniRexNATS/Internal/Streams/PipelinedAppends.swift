#if NATS
internal import MiniRex
internal import Synchronization

/// Appends in order, with a limited number in flight.
final class PipelinedAppends: Sendable {
  /// Appends the message with a number without a timer, and calls the closure with the answer.
  typealias Append =
    @Sendable (Int, @escaping @Sendable (Result<UInt64, NATSError>) -> Void) -> Subscription

  private struct State: Sendable {
    var next = 0
    var done = 0
    /// The sequences of the messages, or 0 before the answer.
    var sequences: [UInt64]
    /// The appends in flight.
    var tokens: [Subscription?]
    var deadlines: [ContinuousClock.Instant] = []
    /// All messages before this one are answered.
    var first = 0
    var timer: Subscription?
    var isFull = false
    /// A Boolean value that indicates whether a thread is sending.
    var isFilling = false
    /// The last reported progress.
    var reported = 0
    /// A Boolean value that indicates whether a thread is reporting.
    var isReporting = false
    var isOver = false

    init(count: Int) {
      sequences = [UInt64](repeating: 0, count: count)
      tokens = [Subscription?](repeating: nil, count: count)
    }

    /// Returns the number of messages to send now, which is 0 if the window is full.
    mutating func room(in window: Int) -> Int {
      let inFlight = next - done
      let share = max(1, min(64, window / 8))
      // Messages that are sent together cost less. More of them would block the callback that sends them.
      if inFlight >= window {
        isFull = true
      } else if inFlight <= window - share {
        isFull = false
      }
      return isOver || isFull ? 0 : min(share, window - inFlight, sequences.count - next)
    }

    /// Keeps the subscription of an append, or returns it if the append is answered or canceled.
    mutating func keep(_ token: Subscription, of index: Int) -> Subscription? {
      if isOver || sequences[index] > 0 { return token }
      tokens[index] = token
      return nil
    }

    /// The progress to report, or `nil` after the last, which ends the reporting.
    mutating func takeProgress() -> Int? {
      isReporting = !isOver && reported < done
      if !isReporting { return nil }
      reported = done
      return done
    }

    /// The deadline of the first message without an answer, or `nil` without one.
    mutating func nextDeadline() -> ContinuousClock.Instant? {
      while first < next, sequences[first] > 0 { first += 1 }
      return first < next ? deadlines[first] : nil
    }
  }

  private let count: Int
  private let window: Int
  private let timeout: Duration
  private let append: Append
  private let report: @Sendable (Int) -> Void
  private let finish: @Sendable (Result<[UInt64], NATSError>) -> Void
  private let state: Lock<State>
  /// Read before each message, so that none is sent after the end.
  private let isOver = Atomic(false)

  init(
    count: Int, window: Int, timeout: Duration, report: @escaping @Sendable (Int) -> Void,
    finish: @escaping @Sendable (Result<[UInt64], NATSError>) -> Void,
    _ append: @escaping Append
  ) {
    (self.count, self.window, self.append) = (count, window, append)
    self.timeout = min(max(.zero, timeout), .seconds(86_400 * 365))
    (self.report, self.finish) = (report, finish)
    state = Lock(State(count: count))
  }

  func start() {
    if count == 0 { return finish(.success([])) }
    state.withLock { $0.isFilling = true }
    watch(for: timeout)
    fill()
  }

  /// Sends until the window is full.
  ///
  /// One thread sends at a time, so the messages are sent in order. It sees the answers that other threads count. It
  /// takes a share of the window in one step, because a lock that two threads take for each message makes them wait
  /// for each other.
  private func fill() {
    var sent: [(index: Int, token: Subscription)] = []
    while true {
      // Release outside the lock.
      let (next, left) = state.withLock { [sent] state -> (Range<Int>, [Subscription]) in
        let left = sent.compactMap { state.keep($0.token, of: $0.index) }
        let room = state.room(in: window)
        state.isFilling = room > 0
        if room > 0 {
          let deadline = ContinuousClock.now + timeout
          state.deadlines.append(contentsOf: repeatElement(deadline, count: room))
        }
        state.next += room
        return (state.next - room..<state.next, left)
      }
      for token in left { token.invalidate() }
      if next.isEmpty { return }
      sent = []
      for index in next {
        if isOver.load(ordering: .acquiring) { break }
        sent.append((index, append(index) { [self] in react($0, to: index) }))
      }
    }
  }

  private func react(_ result: Result<UInt64, NATSError>, to index: Int) {
    switch result {
    case .success(let sequence):
      let (token, mustFill, progress) = state.withLock { state -> (Subscription?, Bool, Int?) in
        // A resent message may be answered twice.
        if state.isOver || state.sequences[index] > 0 { return (nil, false, nil) }
        state.sequences[index] = sequence
        state.done += 1
        let mustFill = !state.isFilling && state.room(in: window) > 0
        if mustFill { state.isFilling = true }
        return (
          state.tokens[index].take(), mustFill, state.isReporting ? nil : state.takeProgress()
        )
      }
      withExtendedLifetime(token) {}
      if mustFill { fill() }
      if let progress { report(from: progress) }
    case .failure(let error):
      if state.withLock({ $0.sequences[index] > 0 }) { return }
      fail(error)
    }
  }

  /// Reports the number of answers until no other is counted, and then finishes.
  private func report(from progress: Int) {
    var next: Int? = progress
    while let done = next {
      report(done)
      if done == count {
        state.withLock { $0.timer.take() }?.invalidate()
        finish(.success(state.withLock { $0.sequences }))
      }
      next = state.withLock { $0.takeProgress() }
    }
  }

  /// Fails when the timeout of the first message without an answer has passed.
  ///
  /// Messages are sent in the order of their deadlines, so one timer is enough.
  private func watch(for duration: Duration) {
    let timer = RequestTimeouts.shared.wait(for: duration) { [weak self] in self?.checkTimeout() }
    let old = state.withLock { state -> Subscription? in
      if state.isOver || state.done == count { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    old?.invalidate()
  }

  private func checkTimeout() {
    let deadline = state.withLock { state -> ContinuousClock.Instant? in
      state.isOver || state.done == count ? nil : state.nextDeadline() ?? .now + timeout
    }
    guard let deadline else { return }
    let rest = ContinuousClock.now.duration(to: deadline)
    if rest > .zero { watch(for: rest) } else { fail(.timedOut) }
  }

  private func fail(_ error: NATSError) {
    cancel()
    finish(.failure(error))
  }

  func cancel() {
    isOver.store(true, ordering: .releasing)
    let (tokens, timer) = state.withLock { state in
      defer { (state.tokens, state.timer) = ([], nil) }
      state.isOver = true
      return (state.tokens, state.timer)
    }
    timer?.invalidate()
    for token in tokens { token?.invalidate() }
  }
}
#endif

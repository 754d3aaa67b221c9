internal import MiniRex

/// The durations of a reducer's calls, for a store with a graph.
package final class ReducerTimes: Sendable {
  package struct Histogram: Sendable {
    /// The number of calls up to each bound, and of the longer calls.
    package var counts = [Int](repeating: 0, count: ReducerTimes.bounds.count + 1)
    package var total = Duration.zero
  }

  /// The upper bounds of the histogram: 1 µs, 5 µs, 10 µs, …, 1 s.
  package static let bounds: [Duration] =
    [1, 10, 100, 1_000, 10_000, 100_000].flatMap {
      [Duration.microseconds($0), .microseconds(5 * $0)]
    } + [.seconds(1)]

  private let state = Lock(Histogram())

  package var histogram: Histogram { state.withLock { $0 } }

  /// Returns the reducer with a measurement around each call.
  func measuring<State, Action>(_ reducer: @escaping Reducer<State, Action>)
    -> Reducer<State, Action>
  {
    { state, action in
      let start = ContinuousClock.now
      defer { self.add(.now - start) }
      return reducer(&state, action)
    }
  }

  private func add(_ time: Duration) {
    let index = Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count
    state.withLock { state in
      state.counts[index] += 1
      state.total += time
    }
  }
}

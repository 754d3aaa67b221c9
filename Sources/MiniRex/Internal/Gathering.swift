/// Brings what several tasks tell into one order, and knows when all have succeeded.
struct Gathering<Failure: Error>: Sendable {
  private enum Event: Sendable {
    case progress(Double, of: Int)
    case success(of: Int)
    case failure(Failure)
  }

  private let events = BroadcastSource<Event>(lineage: nil)
  private let bag: SubscriptionBag

  /// - Parameters:
  ///   - shares: How much of the whole each task is.
  ///   - report: Called with the share that is done, when that has changed.
  ///   - finish: Called with the first failure, or with `nil` when all have succeeded.
  init(
    shares: [Double], in bag: SubscriptionBag,
    report: @escaping @Sendable (Double) -> Void = { _ in },
    finish: @escaping @Sendable (Failure?) -> Void
  ) {
    self.bag = bag
    let fractions = SerialState([Double](repeating: 0, count: shares.count))
    let remaining = SerialState(shares.count)
    @Sendable func set(_ fraction: Double, of index: Int) {
      if unsafe fractions.value[index] == fraction { return }
      unsafe fractions.value[index] = fraction
      report(zip(shares, unsafe fractions.value).reduce(0) { $0 + $1.0 * $1.1 })
    }
    events.publisher.subscribe { event in
      switch event {
      case .progress(let fraction, let index):
        set(fraction > 0 ? min(fraction, 1) : 0, of: index)
      case .success(let index):
        set(1, of: index)
        unsafe remaining.value -= 1
        if unsafe remaining.value == 0 { finish(nil) }
      case .failure(let failure):
        finish(failure)
      }
    }.store(in: bag)
    if shares.isEmpty { finish(nil) }
  }

  /// Subscribes to a task, whose success goes into the cell before it counts.
  func add<Success>(
    _ task: PublishedTask<Success, Failure>, at index: Int, to cell: SuccessCell<Success>
  ) {
    task.follow { receive($0, at: index, to: cell) }.store(in: bag)
  }

  /// Subscribes to a task, whose progress is how much of it is done, from 0 to 1.
  func add<Success>(
    _ task: ProgressiveTask<Double, Success, Failure>, at index: Int,
    to cell: SuccessCell<Success>
  ) {
    task.follow { update in
      switch update {
      case .progress(let fraction): events.broadcast(.progress(fraction, of: index))
      case .finished(let result): receive(result, at: index, to: cell)
      }
    }.store(in: bag)
  }

  private func receive<Success>(
    _ result: Result<Success, Failure>, at index: Int, to cell: SuccessCell<Success>
  ) {
    switch result {
    case .success(let value):
      unsafe cell.value = value
      events.broadcast(.success(of: index))
    case .failure(let failure):
      events.broadcast(.failure(failure))
    }
  }
}

/// The success of one task of `all`.
///
/// Unchecked, and without a lock: it is written once, before the event that makes it read.
final class SuccessCell<Success: Sendable>: @unchecked Sendable {
  @exclusivity(unchecked) fileprivate(set) var value: Success?

  func read() throws(ValueIsMissing) -> Success {
    guard let value = unsafe value else { throw ValueIsMissing() }
    return value
  }
}

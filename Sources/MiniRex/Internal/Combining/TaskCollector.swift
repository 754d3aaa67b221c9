/// Orders the updates of several tasks, and detects when all have succeeded.
struct TaskCollector<Failure: Error>: Sendable {
  private enum Event: Sendable {
    case progress(Double, of: Int)
    case success(of: Int)
    case failure(Failure)
  }

  private let events = BroadcastSource<Event>(lineage: nil)
  private let bag: SubscriptionBag

  /// - Parameters:
  ///   - weights: The weight of each task.
  ///   - report: A closure that receives the total progress when it has changed.
  ///   - finish: A closure that receives the first failure, or `nil` when all tasks have succeeded.
  init(
    weights: [Double], in bag: SubscriptionBag,
    report: @escaping @Sendable (Double) -> Void = { _ in },
    finish: @escaping @Sendable (Failure?) -> Void
  ) {
    self.bag = bag
    let progress = SerialState(WeightedProgress(weights: weights))
    let remaining = SerialState(weights.count)
    @Sendable func set(_ fraction: Double, of index: Int) {
      if let whole = unsafe progress.value.set(fraction, of: index) { report(whole) }
    }
    events.publisher.subscribe { event in
      switch event {
      case .progress(let fraction, let index):
        set(fraction, of: index)
      case .success(let index):
        set(1, of: index)
        unsafe remaining.value -= 1
        if unsafe remaining.value == 0 { finish(nil) }
      case .failure(let failure):
        finish(failure)
      }
    }.store(in: bag)
    if weights.isEmpty { finish(nil) }
  }

  /// Subscribes to a task.
  ///
  /// Its success is stored in the cell before it counts.
  func add<Success>(
    _ task: PublishedTask<Success, Failure>, at index: Int, to cell: CombinationCell<Success>
  ) {
    task.follow { receive($0, at: index, to: cell) }.store(in: bag)
  }

  /// Subscribes to a task whose progress is a fraction from 0 to 1.
  func add<Success>(
    _ task: ProgressiveTask<Double, Success, Failure>, at index: Int,
    to cell: CombinationCell<Success>
  ) {
    task.follow { update in
      switch update {
      case .progress(let fraction): events.broadcast(.progress(fraction, of: index))
      case .finished(let result): receive(result, at: index, to: cell)
      }
    }.store(in: bag)
  }

  private func receive<Success>(
    _ result: Result<Success, Failure>, at index: Int, to cell: CombinationCell<Success>
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

/// Creates a task per input, runs at most `limit` concurrently, and finishes with all successes in
/// the order of the inputs, or with the first failure.
///
/// ```swift
/// let pages = all(addresses, limit: 4) { address in load(address) }
/// ```
///
/// Each task is created when a slot is free. The first failure, and the cancellation of the last
/// subscription, cancel the subscriptions to the running tasks, and prevent further ones. That
/// cancels their work, unless other subscribers use it or its lifetime is
/// ``TaskLifetime/keepsRunning``. If a task ends without a result, the combination ends without a
/// result after the other tasks. Without inputs it succeeds immediately.
///
/// - Parameters:
///   - inputs: The inputs. They are copied by this call.
///   - limit: The maximum number of concurrent tasks. Traps if less than 1.
///   - makeTask: A closure that creates the task of an input. It runs in order, where the previous
///     task ends, or inside `subscribe`.
public func all<Input: Sendable, Success: Sendable, Failure: Error>(
  _ inputs: some Sequence<Input>, limit: Int,
  _ makeTask: @escaping @Sendable (Input) -> PublishedTask<Success, Failure>
) -> PublishedTask<[Success], Failure> {
  let queue = WorkQueue(inputs, limit: limit, makeTask)
  return PublishedTask(
    sharing: SharedWork { inlet, bag in
      queue.run(in: bag) { _, _ in
      } finish: {
        inlet.finish($0)
      }
    })
}

/// Creates a task per input, runs at most `limit` concurrently, and reports the weighted sum of
/// their progress.
///
/// ```swift
/// let whole = all(files, limit: 4, weights: files.map(\.size)) { file in download(file) }
/// ```
///
/// Each progress is a fraction from 0 to 1, and so is the sum. A task that is not created yet
/// counts as 0. See the overload without progress for sharing and cancellation.
///
/// - Parameters:
///   - inputs: The inputs. They are copied by this call.
///   - limit: The maximum number of concurrent tasks. Traps if less than 1.
///   - weights: The weight of each input. The default is equal weights. Traps if the count differs,
///     if a weight is negative, or if all are zero.
///   - makeTask: A closure that creates the task of an input. It runs in order, where the previous
///     task ends, or inside `subscribe`.
public func all<Input: Sendable, Success: Sendable, Failure: Error>(
  _ inputs: some Sequence<Input>, limit: Int, weights: [Double]? = nil,
  _ makeTask: @escaping @Sendable (Input) -> ProgressiveTask<Double, Success, Failure>
) -> ProgressiveTask<Double, [Success], Failure> {
  let queue = WorkQueue(inputs, limit: limit, makeTask)
  let weights = checkedWeights(weights, count: queue.inputs.count)
  return ProgressiveTask(
    sharing: SharedWork { inlet, bag in
      let progress = SerialState(WeightedProgress(weights: weights))
      queue.run(in: bag) { update, index in
        let fraction: Double
        switch update {
        case .progress(let part): fraction = part
        case .finished(.success): fraction = 1
        case .finished(.failure): return
        }
        if let whole = unsafe progress.value.set(fraction, of: index) {
          inlet.report(.progress(whole))
        }
      } finish: {
        inlet.finish(.finished($0))
      }
    })
}

/// The inputs, and the closure that creates a task of each.
private struct WorkQueue<Input: Sendable, Update: TaskOutcome & Sendable, Kind: PublisherKind>:
  Sendable
where Update.Success: Sendable {
  let inputs: [Input]
  private let limit: Int
  private let makeTask: @Sendable (Input) -> Publisher<Update, Kind>

  init(
    _ inputs: some Sequence<Input>, limit: Int,
    _ makeTask: @escaping @Sendable (Input) -> Publisher<Update, Kind>
  ) {
    if limit < 1 { misuse("'all' requires a limit of 1 or more, not \(limit).") }
    self.inputs = Array(inputs)
    self.limit = limit
    self.makeTask = makeTask
  }

  /// Runs the tasks.
  ///
  /// - Parameters:
  ///   - receive: A closure that receives each update of a task, with the index of its input.
  ///   - finish: A closure that receives the first failure, or all successes.
  func run(
    in bag: SubscriptionBag, receiving receive: @escaping @Sendable (Update, Int) -> Void,
    finish: @escaping @Sendable (Result<[Update.Success], Update.Failure>) -> Void
  ) {
    if inputs.isEmpty { return finish(.success([])) }
    let state = SerialState(Successes<Update.Success>(count: inputs.count))
    // `flatMap` serializes its callbacks, including the creation of tasks.
    Broadcaster.sequence(Array(inputs.enumerated())).flatMap(limit: limit) { [makeTask] input in
      // After a failure inside `subscribe`, no subscription exists yet that could be canceled.
      if unsafe state.value.isOver { return Broadcaster<(Update, Int)>.sequence([]) }
      return makeTask(input.element).broadcaster.map { ($0, input.offset) }
    }.follow { update, index in
      if unsafe state.value.isOver { return }
      receive(update, index)
      switch update.finalResult {
      case .success(let success):
        if let all = unsafe state.value.set(success, of: index) { finish(.success(all)) }
      case .failure(let failure):
        unsafe state.value.isOver = true
        finish(.failure(failure))
      case nil:
        break
      }
    }.store(in: bag)
  }
}

private struct Successes<Success> {
  private var all: [Success?]
  private var missingCount: Int
  var isOver = false

  init(count: Int) {
    all = Array(repeating: nil, count: count)
    missingCount = count
  }

  /// - Returns: All successes, if this was the last.
  mutating func set(_ success: Success, of index: Int) -> [Success]? {
    all[index] = success
    missingCount -= 1
    return missingCount == 0 ? all.compactMap { $0 } : nil
  }
}

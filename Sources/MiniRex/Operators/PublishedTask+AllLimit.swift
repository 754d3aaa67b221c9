/// Makes a task of each input, at most `limit` at once, and finishes with all successes in the order
/// of the inputs, or with the first failure.
///
/// ```swift
/// let pages = all(addresses, limit: 4) { address in load(address) }
/// ```
///
/// A task is made when its turn comes. A failure leaves the tasks that run, and so does the last
/// subscriber; that cancels those to which nobody else is subscribed, and no more are made. If one
/// ends without a result, so does this one, once the others are over. Of no inputs, it succeeds at
/// once.
///
/// - Parameters:
///   - inputs: Of what tasks are made; they are copied at once.
///   - limit: How many tasks run at once. Less than 1 stops the program.
///   - makeTask: Called for each input in order, where the task before it ends, or inside
///     `subscribe`.
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

/// Makes a task of each input, at most `limit` at once, whose progress is the weighted sum of theirs.
///
/// ```swift
/// let whole = all(files, limit: 4, weights: files.map(\.size)) { file in download(file) }
/// ```
///
/// The progress of each is how much of it is done, from 0 to 1; so is that of the whole. A task that
/// has not been made counts as not begun. Otherwise it is like the form without progress.
///
/// - Parameters:
///   - inputs: Of what tasks are made; they are copied at once.
///   - limit: How many tasks run at once. Less than 1 stops the program.
///   - weights: How much each input counts; equally, if left out. There has to be one for each,
///     none may be negative, and not all may be zero; anything else stops the program.
///   - makeTask: Called for each input in order, where the task before it ends, or inside
///     `subscribe`.
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

/// Inputs, and how a task is made of each when its turn comes.
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
    if limit < 1 { misuse("'all' takes a limit of 1 or more, not \(limit).") }
    self.inputs = Array(inputs)
    self.limit = limit
    self.makeTask = makeTask
  }

  /// - Parameters:
  ///   - hear: Called with what each task tells, and its index.
  ///   - finish: Called with the first failure, or with the successes when all have succeeded.
  func run(
    in bag: SubscriptionBag, hearing hear: @escaping @Sendable (Update, Int) -> Void,
    finish: @escaping @Sendable (Result<[Update.Success], Update.Failure>) -> Void
  ) {
    if inputs.isEmpty { return finish(.success([])) }
    let state = SerialState(Successes<Update.Success>(count: inputs.count))
    // It is followed one call at a time, the making of tasks included.
    Broadcaster.sequence(Array(inputs.enumerated())).flatMap(limit: limit) { [makeTask] input in
      // A failure inside `subscribe` comes before there is a token that it could end.
      if unsafe state.value.isOver { return Broadcaster<(Update, Int)>.sequence([]) }
      return makeTask(input.element).broadcaster.map { ($0, input.offset) }
    }.follow { update, index in
      if unsafe state.value.isOver { return }
      hear(update, index)
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

  /// - Returns: All of them, if this was the last.
  mutating func set(_ success: Success, of index: Int) -> [Success]? {
    all[index] = success
    missingCount -= 1
    return missingCount == 0 ? all.compactMap { $0 } : nil
  }
}

/// Combines several tasks into one whose progress is the weighted sum of theirs.
///
/// ```swift
/// let whole = all(parts, weights: [1, 3])  // the second part counts three times as much
/// ```
///
/// Each progress is a fraction from 0 to 1, and so is the sum. A task that has succeeded counts as
/// 1. See `all` of tasks without progress for sharing and cancellation.
///
/// - Parameters:
///   - tasks: The tasks. The successes have the same order.
///   - weights: The weight of each task. The default is equal weights. Traps if the count differs,
///     if a weight is negative, or if all are zero.
public func all<Success: Sendable, Failure: Error>(
  _ tasks: [ProgressiveTask<Double, Success, Failure>], weights: [Double]? = nil
) -> ProgressiveTask<Double, [Success], Failure> {
  let weights = checkedWeights(weights, count: tasks.count)
  return ProgressiveTask<Double, [Success], Failure>(
    of: tasks.flatMap(\.lineages),
    sharing: SharedWork { inlet, bag in
      let cells = tasks.map { _ in CombinationCell<Success>() }
      let gathering = TaskCollector<Failure>(weights: weights, in: bag) { fraction in
        inlet.report(.progress(fraction))
      } finish: { failure in
        // After a failure, other threads may still store successes.
        inlet.finish(
          .finished(failure.map { .failure($0) } ?? .success(cells.compactMap { unsafe $0.value })))
      }
      for (index, task) in tasks.enumerated() { gathering.add(task, at: index, to: cells[index]) }
    })
}

/// Combines several tasks of different types into one whose progress is the weighted sum of theirs.
///
/// See the overload for an array.
public func all<each Success: Sendable, Failure: Error>(
  _ task: repeat ProgressiveTask<Double, each Success, Failure>, weights: [Double]? = nil
) -> ProgressiveTask<Double, (repeat each Success), Failure> {
  var count = 0
  var inputs: [Lineage] = []
  for task in repeat each task {
    count += 1
    inputs += task.lineages
  }
  let weights = checkedWeights(weights, count: count)
  return ProgressiveTask<Double, (repeat each Success), Failure>(
    of: inputs,
    sharing: SharedWork { inlet, bag in
      let cells = (repeat emptyCell(for: (each Success).self))
      let collect: @Sendable () -> (repeat each Success)? = { try? (repeat (each cells).read()) }
      let gathering = TaskCollector<Failure>(weights: weights, in: bag) { fraction in
        inlet.report(.progress(fraction))
      } finish: { failure in
        if let failure {
          inlet.finish(.finished(.failure(failure)))
        } else if let values = collect() {
          inlet.finish(.finished(.success(values)))
        }
      }
      var index = 0
      for (task, cell) in repeat (each task, each cells) {
        gathering.add(task, at: index, to: cell)
        index += 1
      }
    })
}

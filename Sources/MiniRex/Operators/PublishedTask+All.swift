/// Combines tasks into one task.
///
/// It finishes with all successes, or with the first failure.
///
/// ```swift
/// let (me, friends) = try await all(user, users).value
/// ```
///
/// Subscribers share one run. The first failure, and the cancellation of the last subscription,
/// cancel the subscriptions to the unfinished tasks. That cancels their work unless other
/// subscribers use it. If a task ends without a result, the combination ends without a result after
/// the other tasks. Without tasks it succeeds immediately.
public func all<each Success: Sendable, Failure: Error>(
  _ task: repeat PublishedTask<each Success, Failure>
) -> PublishedTask<(repeat each Success), Failure> {
  var inputs: [Lineage] = []
  for task in repeat each task { inputs += task.lineages }
  return PublishedTask<(repeat each Success), Failure>(
    of: inputs,
    sharing: SharedWork { inlet, bag in
      let cells = (repeat emptyCell(for: (each Success).self))
      let collect: @Sendable () -> (repeat each Success)? = { try? (repeat (each cells).read()) }
      var weights: [Double] = []
      for _ in repeat each task { weights.append(1) }
      let gathering = TaskCollector<Failure>(weights: weights, in: bag) { failure in
        if let failure {
          inlet.finish(.failure(failure))
        } else if let values = collect() {
          inlet.finish(.success(values))
        }
      }
      var index = 0
      for (task, cell) in repeat (each task, each cells) {
        gathering.add(task, at: index, to: cell)
        index += 1
      }
    })
}

/// Combines an array of tasks into one task.
///
/// It finishes with all successes, in the order of the array, or with the first failure.
///
/// ![all waits for every task](all.svg)
///
/// See ``all(_:)-(PublishedTask<Success,Failure>)``.
public func all<Success: Sendable, Failure: Error>(
  _ tasks: [PublishedTask<Success, Failure>]
) -> PublishedTask<[Success], Failure> {
  PublishedTask<[Success], Failure>(
    of: tasks.flatMap(\.lineages),
    sharing: SharedWork { inlet, bag in
      let cells = tasks.map { _ in CombinationCell<Success>() }
      let weights = [Double](repeating: 1, count: tasks.count)
      let gathering = TaskCollector<Failure>(weights: weights, in: bag) { failure in
        // After a failure, other threads may still store successes.
        inlet.finish(failure.map { .failure($0) } ?? .success(cells.compactMap { unsafe $0.value }))
      }
      for (index, task) in tasks.enumerated() { gathering.add(task, at: index, to: cells[index]) }
    })
}

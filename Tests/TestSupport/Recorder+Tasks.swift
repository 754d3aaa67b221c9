package import MiniRex
package import MiniRexTesting

extension Recorder {
  /// Returns the progress and the result of the task since the last call.
  package func all<Progress, Success, Failure>() async -> (
    progress: [Progress], result: Result<Success, Failure>?
  ) where Update == TaskUpdate<Progress, Success, Failure> {
    var progress: [Progress] = []
    while let update = await next().first {
      switch update {
      case .progress(let amount): progress.append(amount)
      case .finished(let result): return (progress, result)
      }
    }
    return (progress, nil)
  }

  /// Returns the next progress that satisfies `isWanted`, or `nil` if the task finishes first.
  package func progress<Progress, Success, Failure>(
    _ isWanted: (Progress) -> Bool
  ) async -> Progress? where Update == TaskUpdate<Progress, Success, Failure> {
    while case .progress(let amount)? = await next().first {
      if isWanted(amount) { return amount }
    }
    return nil
  }
}

package import MiniRex
package import MiniRexTesting

extension Recorder {
  /// What comes until the task has ended, counting from the last call.
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

  /// The next progress of which something is true; `nil` if the task ends before.
  package func progress<Progress, Success, Failure>(
    _ isWanted: (Progress) -> Bool
  ) async -> Progress? where Update == TaskUpdate<Progress, Success, Failure> {
    while case .progress(let amount)? = await next().first {
      if isWanted(amount) { return amount }
    }
    return nil
  }
}

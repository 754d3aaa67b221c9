import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNetworkingAdapters
import MiniRexTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension Recorder {
  /// What comes until the task has ended, counting from the last call.
  func all<Progress, Success, Failure>() async -> (
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
  func progress<Progress, Success, Failure>(
    _ isWanted: (Progress) -> Bool
  ) async -> Progress? where Update == TaskUpdate<Progress, Success, Failure> {
    while case .progress(let amount)? = await next().first {
      if isWanted(amount) { return amount }
    }
    return nil
  }
}

extension Result where Failure == TransferFailure {
  var refusal: (HTTPURLResponse, body: Data)? {
    if case .failure(.status(let response, let body)) = self { (response, body) } else { nil }
  }

  var urlError: URLError? {
    if case .failure(.url(let error)) = self { error } else { nil }
  }

  var fileError: POSIXError? {
    if case .failure(.file(let error)) = self { error } else { nil }
  }
}

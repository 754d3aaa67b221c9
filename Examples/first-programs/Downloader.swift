import Foundation
import MiniRex
import MiniRexNetworkingAdapters

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Downloads several files concurrently, and retries temporary failures.
///
/// Reports the progress of all downloads together, from 0 to 1. Succeeds with the URLs of the
/// files.
func download(
  _ addresses: [URL], into folder: URL, atOnce limit: Int = 3,
  delay: RetryDelay = .exponential(from: .milliseconds(200), upTo: .seconds(5), jitter: 1)
) -> ProgressiveTask<Double, [URL], TransferFailure> {
  all(addresses, limit: limit) { address in
    ProgressiveTask.retrying(times: 3, delay: delay, while: \.mayGoBetter) {
      report async throws(TransferFailure) in
      let transfer = URLSession.shared.downloadTask(
        for: URLRequest(url: address), to: folder.appending(path: address.lastPathComponent))
      for await update in transfer.values(.bufferingNewest(1)) {
        switch update {
        case .progress(let progress): report(progress.fraction ?? 0)
        case .finished(let result): return try result.get()
        }
      }
      throw .url(URLError(.cancelled))
    }
  }
}

extension TransferFailure {
  fileprivate var mayGoBetter: Bool {
    switch self {
    case .url: true
    case .status(let answer, _): answer.statusCode >= 500 || answer.statusCode == 429
    case .file: false
    }
  }
}

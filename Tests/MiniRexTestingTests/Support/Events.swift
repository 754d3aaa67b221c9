import Foundation
import MiniRex
import Testing

/// What has happened so far, on any thread.
final class Events: Sendable {
  private let lock = Lock<[String]>([])

  var all: [String] { lock.withLock { $0 } }

  func append(_ event: String) {
    lock.withLock { $0.append(event) }
  }
}

/// Calls when it is released.
final class Releasing: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { onRelease() }
}

/// Runs the body on as many threads, and returns when all are done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
  let done = DispatchGroup()
  for index in 0..<count {
    done.enter()
    Thread {
      body(index)
      done.leave()
    }.start()
  }
  done.wait()
}

extension ExitTest.Result? {
  func says(_ advice: String) -> Bool {
    self.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }?.contains(advice) ?? false
  }
}

import Foundation
package import Testing

/// The factor for the rounds of a storm: 1 by default, less with sanitizers, more in a soak.
package let scale =
  ProcessInfo.processInfo.environment["MINIREX_SCALE"].flatMap(Double.init) ?? 1

package func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

/// Runs the body concurrently on new threads, and returns when all have finished.
package func onThreads(
  _ count: Int, stackSize: Int? = nil, _ body: @escaping @Sendable (_ index: Int) -> Void
) {
  let done = DispatchGroup()
  let start = Gate()
  // Release the body here, because a thread may retain it after it signals its end.
  let body = Shared<(@Sendable (Int) -> Void)?>(body)
  for index in 0..<count {
    done.enter()
    let thread = Thread {
      start.wait()
      body.value?(index)
      done.leave()
    }
    if let stackSize { thread.stackSize = stackSize }
    thread.start()
  }
  start.open()
  done.wait()
  body.value = nil
}

package func onThread(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
  onThreads(1, stackSize: stackSize) { _ in body() }
}

/// A barrier that blocks threads until it is opened.
package final class Gate: Sendable {
  private let group = DispatchGroup()

  package init() { group.enter() }

  package func open() { group.leave() }

  /// Blocks the thread until the barrier is open, or for a minute.
  package func wait(sourceLocation: SourceLocation = #_sourceLocation) {
    block(sourceLocation, group.wait)
  }
}

/// Kills the process after 4 minutes, so that a hang fails the exit test.
package func mustEnd() {
  alarm(240)
}

import Foundation

/// How much of a storm to run: 1 by default, less under sanitizers, more in a soak.
package let scale =
  ProcessInfo.processInfo.environment["MINIREX_SCALE"].flatMap(Double.init) ?? 1

package func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

/// Runs the body on as many real threads at once, and returns when all are done.
package func onThreads(
  _ count: Int, stackSize: Int? = nil, _ body: @escaping @Sendable (_ index: Int) -> Void
) {
  let done = DispatchGroup()
  let start = Gate()
  // What a thread runs may be released a while after it has said that it is done.
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

/// Holds threads back until it is opened.
package final class Gate: Sendable {
  private let group = DispatchGroup()

  package init() { group.enter() }

  package func open() { group.leave() }

  package func wait() { group.wait() }
}

/// Ends the process if it has not ended by itself in a few minutes: a hang becomes a failed exit test.
package func mustEnd() {
  alarm(240)
}

import Foundation
import MiniRex

/// How much of a storm to run: 1 by default, less under sanitizers, more in a soak.
let scale = ProcessInfo.processInfo.environment["MINIREX_SCALE"].flatMap(Double.init) ?? 1

func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

/// Runs the body on as many real threads at once, and returns when all are done.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
  let done = DispatchGroup()
  let start = Gate()
  // What a thread runs may be released a while after it has said that it is done.
  let body = Shared<(@Sendable (Int) -> Void)?>(body)
  for index in 0..<count {
    done.enter()
    Thread.detachNewThread {
      start.wait()
      body.value?(index)
      done.leave()
    }
  }
  start.open()
  done.wait()
  body.value = nil
}

/// Holds threads back until it is opened.
final class Gate: Sendable {
  private let group = DispatchGroup()

  init() { group.enter() }

  func open() { group.leave() }

  func wait() { group.wait() }
}

/// A variable that threads share.
final class Shared<Value: Sendable>: Sendable {
  private let lock: Lock<Value>

  init(_ value: Value) { lock = Lock(value) }

  var value: Value {
    get { lock.withLock { $0 } }
    set {
      var old = newValue
      lock.withLock { swap(&$0, &old) }
    }
  }

  func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&$0) }
  }
}

/// Tells when it is released.
final class Witness: Sendable {
  private let onRelease: @Sendable () -> Void

  init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

  deinit { onRelease() }

  /// What a callback does that has captured it.
  func touch() {}
}

/// An object that is equal to itself only.
final class Thing: Sendable {}

/// Ends the process if it has not ended by itself: a hang becomes a failed exit test.
func mustEnd(within seconds: UInt32) {
  alarm(seconds)
}

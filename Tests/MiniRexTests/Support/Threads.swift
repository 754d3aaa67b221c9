import Foundation
import MiniRex

/// How much of a storm to run: 1 by default, less under sanitizers, more in a soak.
let scale = ProcessInfo.processInfo.environment["MINIREX_SCALE"].flatMap(Double.init) ?? 1

func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * scale)) }

/// Runs the body on as many real threads at once, and returns when all are done.
func onThreads(
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

func onThread(stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void) {
  onThreads(1, stackSize: stackSize) { _ in body() }
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

extension Shared where Value == Int {
  @discardableResult
  func increment(by amount: Int = 1) -> Int {
    change { value in
      value += amount
      return value
    }
  }
}

/// The same numbers again for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Ends the process if it has not ended by itself: a hang becomes a failed exit test.
func mustEnd(within seconds: UInt32) {
  alarm(seconds)
}

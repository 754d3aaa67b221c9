/// An accumulator for subscribers.
///
/// It is a raw pointer, so that a subscriber costs one load, one addition, and one store, which the
/// optimizer cannot remove. Exclusivity checks and reference counting stay out of the measurement.
/// Unchecked: each workload uses a sink on one thread at a time.
struct Acc: @unchecked Sendable {
  let p: UnsafeMutablePointer<Int>

  init() {
    p = .allocate(capacity: 1)
    p.initialize(to: 0)
  }

  @inline(__always)
  func add(_ v: Int) { p.pointee = p.pointee &+ v }
}

/// A value that the threads of a benchmark share under the rules of the workload.
struct Cell<T>: @unchecked Sendable {
  let p: UnsafeMutablePointer<T>

  init(_ v: T) {
    p = .allocate(capacity: 1)
    p.initialize(to: v)
  }
}

final class Holder<T> {
  var v: [T]

  init(_ v: [T]) {
    self.v = v
  }
}

/// Hides a value from the optimizer.
@inline(never)
func opaque<T>(_ x: T) -> T { x }

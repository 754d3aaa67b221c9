/// Where subscribers accumulate.
///
/// A raw pointer, so that a subscriber is one load, add and store, which the optimiser cannot
/// remove, and neither exclusivity checks nor reference counting are measured. Unchecked, because a
/// sink belongs to one thread at a time by the way each workload is made.
struct Acc: @unchecked Sendable {
  let p: UnsafeMutablePointer<Int>

  init() {
    p = .allocate(capacity: 1)
    p.initialize(to: 0)
  }

  @inline(__always)
  func add(_ v: Int) { p.pointee = p.pointee &+ v }
}

/// A value that threads of a benchmark share as the workload arranges it.
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

/// What the optimiser knows nothing of.
@inline(never)
func opaque<T>(_ x: T) -> T { x }

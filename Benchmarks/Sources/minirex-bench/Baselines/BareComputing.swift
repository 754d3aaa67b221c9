/// The obvious code by hand: a cached value with a flag, and a function that computes every value
/// again after each change.
extension Suite {
  func registerBareComputing() {
    bench("computed-read", "bare") {
      let sum = opaque(CachedSum())
      let acc = Acc()
      return { k in for _ in 0..<k { acc.add(sum.read()) } }
    }
    recompute("computed-set") { head, next in next(head &+ 2) }
    recompute("computed-diamond") { head, next in
      let arms = (0..<5).map { head &+ $0 }
      next(arms[0] &+ arms[1] &+ arms[2] &+ arms[3] &+ arms[4])
    }
    recompute("computed-deep") { head, next in
      var last = head
      for _ in 0..<50 { last = opaque(last &+ 1) }
      next(last)
    }
    recompute("computed-wide") { head, next in
      for j in 0..<50 { next(opaque(head &+ j) &+ 1) }
    }
  }

  private func recompute(_ workload: String, _ compute: @escaping (Int, (Int) -> Void) -> Void) {
    bench(workload, "bare") {
      let model = opaque(RecomputedModel(compute))
      let acc = Acc()
      model.subscribers.add { acc.add($0) }
      return { k in for i in 0..<k { model.value = i } }
    }
  }
}

private final class CachedSum {
  var a = 1 { didSet { isCurrent = false } }
  var b = 2 { didSet { isCurrent = false } }
  private var sum = 0
  private var isCurrent = false

  @inline(never) func read() -> Int {
    if !isCurrent {
      sum = a &+ b
      isCurrent = true
    }
    return sum
  }
}

private final class RecomputedModel {
  let subscribers = BareSubject()
  private let compute: (Int, (Int) -> Void) -> Void

  init(_ compute: @escaping (Int, (Int) -> Void) -> Void) {
    self.compute = compute
  }

  var value = 0 {
    didSet {
      if value == oldValue { return }
      compute(value, subscribers.send)
    }
  }
}

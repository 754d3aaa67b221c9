import CBench
import Synchronization

typealias Fn = @Sendable (Int) -> Void

/// (a), the physical limit: an array of closures without a lock.
final class BareSubject {
  var subs: [Fn] = []
  @inline(never) func add(_ f: @escaping Fn) { subs.append(f) }
  @inline(never) func send(_ v: Int) { for s in subs { s(v) } }
}
/// (b): a snapshot of the array, taken under a `Mutex` for each emission.
final class MutexSubject: Sendable {
  let subs = Mutex<[Fn]>([])
  @inline(never) func add(_ f: @escaping Fn) { subs.withLock { $0.append(f) } }
  @inline(never) func send(_ v: Int) {
    let snap = subs.withLock { $0 }
    for s in snap { s(v) }
  }
}
/// The floor: closures in raw memory behind a noncopyable slot.
///
/// A call needs no lock, retain, or release.
struct FloorSlot: ~Copyable {
  let fn: Fn
  @inline(__always) borrowing func call(_ v: Int) { fn(v) }
}
final class FloorSubject {
  let p: UnsafeMutablePointer<FloorSlot>
  let cap: Int
  let n: UnsafeMutablePointer<Int>
  let value: UnsafeMutablePointer<Int>
  init(_ cap: Int) {
    p = .allocate(capacity: cap)
    self.cap = cap
    n = .allocate(capacity: 1)
    n.initialize(to: 0)
    value = .allocate(capacity: 1)
    value.initialize(to: 0)
  }
  @inline(never) func add(_ f: @escaping Fn) {
    (p + n.pointee).initialize(to: FloorSlot(fn: f))
    n.pointee += 1
  }
  @inline(never) func send(_ v: Int) {
    var q = p
    let e = p + n.pointee
    while q != e {
      q.pointee.call(v)
      q += 1
    }
  }
  @inline(never) func set(_ v: Int) {
    value.pointee = v
    send(v)
  }
  @inline(never) func setDistinct(_ v: Int) {
    if value.pointee != v {
      value.pointee = v
      send(v)
    }
  }
}
final class BareToken {
  let f: Fn
  init(_ f: @escaping Fn) { self.f = f }
}

@inline(never) func bMap(_ f: @escaping @Sendable (Int) -> Int, _ next: @escaping Fn) -> Fn {
  { next(f($0)) }
}
@inline(never) func bFilter(_ f: @escaping @Sendable (Int) -> Bool, _ next: @escaping Fn) -> Fn {
  { if f($0) { next($0) } }
}

extension Suite {
  func registerBare() {
    for n in [1, 10, 1000, 100_000] {
      bench("fanout-\(n)", "bare", units: Double(n)) {
        let s = BareSubject()
        let acc = Acc()
        for _ in 0..<n { s.add { acc.add($0) } }
        return { k in for i in 0..<k { s.send(i) } }
      }
      bench("fanout-\(n)", "floor", units: Double(n)) {
        let s = FloorSubject(n)
        let acc = Acc()
        for _ in 0..<n { s.add { acc.add($0) } }
        return { k in for i in 0..<k { s.send(i) } }
      }
      bench("fanout-\(n)", "bareMutex", units: Double(n)) {
        let s = MutexSubject()
        let acc = Acc()
        for _ in 0..<n { s.add { acc.add($0) } }
        return { k in for i in 0..<k { s.send(i) } }
      }
    }
    final class Val {
      var v = 0
      let s = BareSubject()
      @inline(never) func set(_ x: Int) {
        v = x
        s.send(x)
      }
      @inline(never) func setDistinct(_ x: Int) {
        if x != v {
          v = x
          s.send(x)
        }
      }
    }
    final class MVal: Sendable {
      let st = Mutex<(Int, [Fn])>((0, []))
      @inline(never) func set(_ x: Int) {
        let snap = st.withLock {
          $0.0 = x
          return $0.1
        }
        for f in snap { f(x) }
      }
      @inline(never) func setDistinct(_ x: Int) {
        let snap: [Fn]? = st.withLock {
          if $0.0 == x { return nil }
          $0.0 = x
          return $0.1
        }
        if let snap { for f in snap { f(x) } }
      }
    }
    for n in [1, 10] {
      bench("value-\(n)", "bare") {
        let s = Val()
        let acc = Acc()
        for _ in 0..<n { s.s.add { acc.add($0) } }
        return { k in for i in 0..<k { s.setDistinct(i) } }
      }
      bench("value-\(n)", "floor") {
        let s = FloorSubject(n)
        let acc = Acc()
        for _ in 0..<n { s.add { acc.add($0) } }
        return { k in for i in 0..<k { s.setDistinct(i) } }
      }
      bench("value-\(n)", "bareMutex") {
        let s = MVal()
        let acc = Acc()
        for _ in 0..<n { s.st.withLock { $0.1.append { acc.add($0) } } }
        return { k in for i in 0..<k { s.setDistinct(i) } }
      }
    }
    bench("value-distinct", "bare") {
      let s = Val()
      let acc = Acc()
      s.s.add { acc.add($0) }
      return { k in for i in 0..<k { s.setDistinct(i >> 1) } }
    }
    bench("value-distinct", "floor") {
      let s = FloorSubject(1)
      let acc = Acc()
      s.add { acc.add($0) }
      return { k in for i in 0..<k { s.setDistinct(i >> 1) } }
    }
    bench("value-distinct", "bareMutex") {
      let s = MVal()
      let acc = Acc()
      s.st.withLock { $0.1.append { acc.add($0) } }
      return { k in for i in 0..<k { s.setDistinct(i >> 1) } }
    }
    bench("chain-3", "bare") {
      let s = BareSubject()
      let acc = Acc()
      s.add(
        bMap({ $0 &* 3 }, bFilter({ $0 & 1 == 0 || $0 >= 0 }, bMap({ $0 &+ 7 }, { acc.add($0) }))))
      return { k in for i in 0..<k { s.send(i) } }
    }
    bench("chain-3", "floor") {
      let s = FloorSubject(1)
      let acc = Acc()
      s.add(
        bMap({ $0 &* 3 }, bFilter({ $0 & 1 == 0 || $0 >= 0 }, bMap({ $0 &+ 7 }, { acc.add($0) }))))
      return { k in for i in 0..<k { s.send(i) } }
    }
    bench("chain-3", "floorFused") {
      let s = FloorSubject(1)
      let acc = Acc()
      s.add {
        let x = $0 &* 3
        if x & 1 == 0 || x >= 0 { acc.add(x &+ 7) }
      }
      return { k in for i in 0..<k { s.send(i) } }
    }
    bench("chain-10", "floor") {
      let s = FloorSubject(1)
      let acc = Acc()
      var f: Fn = { acc.add($0) }
      for j in 0..<10 { f = bMap({ $0 &+ j }, f) }
      s.add(f)
      return { k in for i in 0..<k { s.send(i) } }
    }
    bench("chain-3", "bareFused") {
      let s = BareSubject()
      let acc = Acc()
      s.add {
        let x = $0 &* 3
        if x & 1 == 0 || x >= 0 { acc.add(x &+ 7) }
      }
      return { k in for i in 0..<k { s.send(i) } }
    }
    bench("chain-10", "bare") {
      let s = BareSubject()
      let acc = Acc()
      var f: Fn = { acc.add($0) }
      for j in 0..<10 { f = bMap({ $0 &+ j }, f) }
      s.add(f)
      return { k in for i in 0..<k { s.send(i) } }
    }
    for n in [0, 1000, 100_000] {
      bench("churn-\(n)", "bare") {
        let acc = Acc()
        var arr: [BareToken] = []
        for _ in 0..<n { arr.append(BareToken { acc.add($0) }) }
        let h = Holder(arr)
        arr = []
        return { k in
          for i in 0..<k {
            let j = opaque(i)
            h.v.append(BareToken { acc.add($0 &+ j) })
            h.v.removeLast()
          }
        }
      }
    }
    bench("contended-2", "bare", units: 10) {
      let s = MutexSubject()
      for _ in 0..<10 { s.add { cb_tls_add(Int64($0)) } }
      return { k in twoThreads(k) { m in for i in 0..<m { s.send(i) } } }
    }
    bench("contended-churn", "bare", units: 10) {
      let s = MutexSubject()
      for _ in 0..<10 { s.add { cb_tls_add(Int64($0)) } }
      return { k in
        self.pairsPerSecond["bare", default: []].append(
          emitWhileChurn(
            k, emit: { m in for i in 0..<m { s.send(i) } },
            churnOnce: {
              s.add { cb_tls_add(Int64($0)) }
              s.subs.withLock { _ = $0.removeLast() }
            }))
      }
    }
    for n in [2, 8] {
      bench("combineLatest-\(n)", "bare") {
        final class Latest {
          var v: [Int?]
          var missing: Int
          init(_ n: Int) {
            v = .init(repeating: nil, count: n)
            missing = n
          }
        }
        let acc = Acc()
        let l = Latest(n)
        let subs = (0..<n).map { _ in BareSubject() }
        for (i, s) in subs.enumerated() {
          nonisolated(unsafe) let l = l
          s.add { x in
            if l.v[i] == nil { l.missing -= 1 }
            l.v[i] = x
            if l.missing == 0 {
              var t = 0
              // swift-format-ignore: NeverForceUnwrap
              for e in l.v { t = t &+ e! }
              acc.add(t)
            }
          }
        }
        for s in subs { s.send(1) }
        return { k in for i in 0..<k { subs[i & (n - 1)].send(i) } }
      }
    }
    bench("merge-8", "bare") {
      let acc = Acc()
      let out: Fn = { acc.add($0) }
      let subs = (0..<8).map { _ in BareSubject() }
      for s in subs { s.add { out($0) } }
      return { k in for i in 0..<k { subs[i & 7].send(i) } }
    }
    bench("task", "bare") {
      let acc = Acc()
      final class F {
        var result: Int?
        var f: Fn?
        @inline(never) func complete(_ v: Int) {
          result = v
          f?(v)
          f = nil
        }
        @inline(never) func on(_ f: @escaping Fn) { if let r = result { f(r) } else { self.f = f } }
      }
      return { k in
        for i in 0..<k {
          let f = F()
          let j = opaque(i)
          f.on { acc.add($0 &+ j) }
          f.complete(i)
        }
      }
    }
    weigh(memoryWorkload, "bare") { n in
      let s = BareSubject()
      let acc = Acc()
      var tokens: [BareToken] = []
      tokens.reserveCapacity(n)
      for i in 0..<n {
        let f: Fn = { acc.add($0 &+ i) }
        s.add(f)
        tokens.append(BareToken(f))
      }
      return Holder<AnyObject>([s, Holder(tokens)])
    }
  }
}

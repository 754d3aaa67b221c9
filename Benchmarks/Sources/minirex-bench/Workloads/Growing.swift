import CBench

/// Workloads for the plots: the chain and the contention of the table, in other sizes.
extension Suite {
  func maps(_ n: Int, named name: String) {
    chain(of: n, named: name)
    bench(name, "bare") {
      let s = BareSubject()
      let acc = Acc()
      var f: Fn = { acc.add($0) }
      for j in 0..<n { f = bMap({ $0 &+ j }, f) }
      s.add(f)
      return { k in for i in 0..<k { s.send(i) } }
    }
  }

  func senders(_ n: Int, named name: String) {
    contended(by: n, named: name)
    bench(name, "bare", units: 10) {
      let s = MutexSubject()
      for _ in 0..<10 { s.add { cb_tls_add(Int64($0)) } }
      return { k in onThreads(n, k) { m in for i in 0..<m { s.send(i) } } }
    }
  }
}

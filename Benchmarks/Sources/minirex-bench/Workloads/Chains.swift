import MiniRex

extension Suite {
  func chains() {
    bench("chain-3", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      let token = source.publisher
        .map { $0 &* 3 }.filter { $0 & 1 == 0 || $0 >= 0 }.map { $0 &+ 7 }
        .subscribe { acc.add($0) }
      return { k in
        for i in 0..<k { source.broadcast(i) }
        withExtendedLifetime(token) {}
      }
    }
    chain(of: 10, named: "chain-10")
  }

  func chain(of length: Int, named name: String) {
    bench(name, "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      var publisher = source.publisher
      for j in 0..<length { publisher = publisher.map { $0 &+ j } }
      let token = publisher.subscribe { acc.add($0) }
      return { k in
        for i in 0..<k { source.broadcast(i) }
        withExtendedLifetime(token) {}
      }
    }
  }
}

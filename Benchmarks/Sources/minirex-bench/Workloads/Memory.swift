import MiniRex

/// The memory of a million subscriptions.
extension Suite {
  func memory() {
    weigh(memoryWorkload, "minirex") { n in
      let source = BroadcastSource<Int>()
      let acc = Acc()
      var tokens: [Subscription] = []
      tokens.reserveCapacity(n)
      for i in 0..<n { tokens.append(source.publisher.subscribe { acc.add($0 &+ i) }) }
      return Holder<AnyObject>([source, Holder(tokens)])
    }
  }
}

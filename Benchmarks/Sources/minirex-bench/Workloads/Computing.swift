import MiniRex

/// Computed values next to the same values by operators, and recomputed by hand.
///
/// `Benchmarks/Signals/shapes.mjs` has the same shapes.
extension Suite {
  func computing() {
    bench("computed-read", "minirex") {
      let (a, b) = pair()
      let sum = opaque(PublishedValue.computed { read in read(a) &+ read(b) })
      return { k in for _ in 0..<k { sink.add(sum.current() ?? 0) } }
    }
    bench("computed-read", "combineLatest") {
      let sum = opaque(sumByOperators(pair()))
      return { k in for _ in 0..<k { sink.add(sum.current() ?? 0) } }
    }
    bench("computed-set", "minirex") {
      let (a, b) = pair()
      return setting(a, following: [.computed { read in read(a) &+ read(b) }])
    }
    bench("computed-set", "combineLatest") {
      let (a, b) = pair()
      return setting(a, following: [sumByOperators((a, b))])
    }
    bench("computed-diamond", "minirex") {
      let head = PublishedProperty(0)
      let arms = (0..<5).map { j in PublishedValue.computed { read in read(head) &+ j } }
      let sum = PublishedValue.computed { read in
        read(arms[0]) &+ read(arms[1]) &+ read(arms[2]) &+ read(arms[3]) &+ read(arms[4])
      }
      return setting(head, following: [sum])
    }
    bench("computed-diamond", "combineLatest") {
      let head = PublishedProperty(0)
      let arms = (0..<5).map { j in head.publisher.map { $0 &+ j } }
      let sum = combineLatest(arms[0], arms[1], arms[2], arms[3], arms[4])
        .map { $0 &+ $1 &+ $2 &+ $3 &+ $4 }
      return setting(head, following: [sum])
    }
    chains(of: 50)
    columns(50)
  }

  private func chains(of length: Int) {
    bench("computed-deep", "minirex") {
      let head = PublishedProperty(0)
      var last = head.publisher
      for _ in 0..<length { last = .computed { [last] read in read(last) &+ 1 } }
      return setting(head, following: [last])
    }
    bench("computed-deep", "map") {
      let head = PublishedProperty(0)
      var last = head.publisher
      for _ in 0..<length { last = last.map { $0 &+ 1 } }
      return setting(head, following: [last])
    }
  }

  private func columns(_ count: Int) {
    bench("computed-wide", "minirex") {
      let head = PublishedProperty(0)
      let ends = (0..<count).map { j in
        let first = PublishedValue.computed { read in read(head) &+ j }
        return PublishedValue.computed { read in read(first) &+ 1 }
      }
      return setting(head, following: ends)
    }
    bench("computed-wide", "map") {
      let head = PublishedProperty(0)
      let ends = (0..<count).map { j in head.publisher.map { $0 &+ j }.map { $0 &+ 1 } }
      return setting(head, following: ends)
    }
  }
}

private let sink = Acc()

private func pair() -> (PublishedProperty<Int>, PublishedProperty<Int>) {
  (PublishedProperty(1), PublishedProperty(2))
}

private func sumByOperators(
  _ pair: (PublishedProperty<Int>, PublishedProperty<Int>)
) -> PublishedValue<Int> {
  combineLatest(pair.0.publisher, pair.1.publisher).map { $0 &+ $1 }
}

/// Subscribes to the values, and sets the property to another value each time.
private func setting(_ property: PublishedProperty<Int>, following values: [PublishedValue<Int>])
  -> Run
{
  let property = opaque(property)
  let tokens = Holder(values.map { $0.subscribe { sink.add($0) } })
  return { k in
    for i in 0..<k { property.value = i }
    withExtendedLifetime(tokens) {}
  }
}

import MiniRex

extension Suite {
  func combining() {
    bench("combineLatest-2", "minirex") {
      let properties = twoProperties()
      let acc = Acc()
      let token = combineLatest(properties.v[0].publisher, properties.v[1].publisher)
        .subscribe { a, b in acc.add(a &+ b) }
      return { k in
        for i in 0..<k { properties.v[i & 1].value = i }
        withExtendedLifetime(token) {}
      }
    }
    bench("combineLatest-8", "minirex") {
      let properties = opaque(Holder((0..<8).map { _ in PublishedProperty(0) }))
      let p = properties.v.map(\.publisher)
      let acc = Acc()
      let token = combineLatest(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
        .subscribe { a, b, c, d, e, f, g, h in
          let first = a &+ b &+ c &+ d
          let second = e &+ f &+ g &+ h
          acc.add(first &+ second)
        }
      return { k in
        for i in 0..<k { properties.v[i & 7].value = i }
        withExtendedLifetime(token) {}
      }
    }
    bench("merge-8", "minirex") {
      let sources = opaque(Holder((0..<8).map { _ in BroadcastSource<Int>() }))
      let acc = Acc()
      let token = merge(sources.v.map(\.publisher)).subscribe { acc.add($0) }
      return { k in
        for i in 0..<k { sources.v[i & 7].broadcast(i) }
        withExtendedLifetime(token) {}
      }
    }
  }
}

private func twoProperties() -> Holder<PublishedProperty<Int>> {
  opaque(Holder([PublishedProperty(0), PublishedProperty(0)]))
}

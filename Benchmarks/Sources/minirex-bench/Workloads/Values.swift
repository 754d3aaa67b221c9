import MiniRex
import Observation

extension Suite {
  func values() {
    for n in [1, 10] {
      bench("value-\(n)", "minirex") {
        let property = opaque(PublishedProperty(0))
        let acc = Acc()
        let tokens = Holder((0..<n).map { _ in property.publisher.subscribe { acc.add($0) } })
        return { k in
          for i in 0..<k { property.value = i }
          withExtendedLifetime(tokens) {}
        }
      }
      bench("value-\(n)", "Observation") {
        let model = opaque(Observed())
        let acc = Acc()
        for _ in 0..<n { follow(model, acc) }
        return { k in for i in 0..<k { model.value = i } }
      }
    }
    bench("value-distinct", "minirex") {
      let property = opaque(PublishedProperty(0))
      let acc = Acc()
      let token = property.publisher.subscribe { acc.add($0) }
      return { k in
        for i in 0..<k { property.value = i >> 1 }
        withExtendedLifetime(token) {}
      }
    }
    bench("value-distinct", "Observation") {
      let model = opaque(Observed())
      follow(model, Acc())
      return { k in for i in 0..<k { model.value = i >> 1 } }
    }
  }
}

/// Unchecked: one thread uses it.
@Observable
private final class Observed: @unchecked Sendable {
  var value = 0
}

/// Reads the value and tracks its next change, as every observer must.
private func follow(_ model: Observed, _ acc: Acc) {
  withObservationTracking {
    acc.add(model.value)
  } onChange: {
    follow(model, acc)
  }
}

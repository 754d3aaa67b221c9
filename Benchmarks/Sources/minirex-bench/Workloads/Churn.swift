import Foundation
import MiniRex

/// Subscribers join and cancel.
///
/// The canceled subscriber differs, because holes in the middle of the table must be compacted at
/// times, and holes at its end need not.
extension Suite {
  func churn() {
    for n in [0, 1000, 100_000] {
      bench("churn-\(n)", "minirex") {
        let source = opaque(BroadcastSource<Int>())
        let acc = Acc()
        let tokens = subscribed(n, source, acc)
        return { k in
          for i in 0..<k {
            let j = opaque(i)
            source.publisher.subscribe { acc.add($0 &+ j) }.invalidate()
          }
          withExtendedLifetime(tokens) {}
        }
      }
    }
    bench("churn-0", "NotificationCenter") {
      let center = opaque(NotificationCenter())
      let acc = Acc()
      let name = Notification.Name("benchmark")
      return { k in
        for i in 0..<k {
          let j = opaque(i)
          let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in acc.add(j) }
          center.removeObserver(token)
        }
      }
    }
    churnInTheMiddle("churn-oldest-100000") { i, n in i % n }
    churnInTheMiddle("churn-random-100000") { i, n in
      var x = UInt64(truncatingIfNeeded: i) &* 0x9e37_79b9_7f4a_7c15
      x ^= x >> 32
      x = x &* 0xd6e8_feb8_6659_fd93
      return Int((x ^ x >> 32) % UInt64(n))
    }
  }

  private func churnInTheMiddle(_ name: String, which: @escaping (Int, Int) -> Int) {
    bench(name, "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      let n = 100_000
      let tokens = subscribed(n, source, acc)
      var turn = 0
      return { k in
        for i in 0..<k {
          let j = opaque(i)
          let ending = which(turn, n)
          turn += 1
          tokens.v[ending].invalidate()
          tokens.v[ending] = source.publisher.subscribe { acc.add($0 &+ j) }
        }
      }
    }
  }
}

private func subscribed(
  _ n: Int, _ source: BroadcastSource<Int>, _ acc: Acc
) -> Holder<Subscription> {
  Holder((0..<n).map { _ in source.publisher.subscribe { acc.add($0) } })
}

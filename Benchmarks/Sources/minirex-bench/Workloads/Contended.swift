import CBench
import Foundation
import MiniRex

extension Suite {
  func contended() {
    contended(by: 2, named: "contended-2")
    bench("contended-2", "NotificationCenter", units: 10) {
      let post = postToObservers(10) { cb_tls_add(1) }
      return { k in twoThreads(k) { m in for _ in 0..<m { post() } } }
    }
    bench("contended-churn", "minirex", units: 10) {
      let source = opaque(BroadcastSource<Int>())
      let tokens = tenSubscribers(source)
      return { k in
        let pairs = emitWhileChurn(k) { m in
          for i in 0..<m { source.broadcast(i) }
          waitUntilDelivered(source)
        } churnOnce: {
          source.publisher.subscribe { cb_tls_add(Int64($0)) }.invalidate()
        }
        self.pairsPerSecond["minirex", default: []].append(pairs)
        withExtendedLifetime(tokens) {}
      }
    }
  }

  func contended(by threads: Int, named name: String) {
    bench(name, "minirex", units: 10) {
      let source = opaque(BroadcastSource<Int>())
      let tokens = tenSubscribers(source)
      return { k in
        onThreads(threads, k) { m in for i in 0..<m { source.broadcast(i) } }
        waitUntilDelivered(source)
        withExtendedLifetime(tokens) {}
      }
    }
  }
}

private func tenSubscribers(_ source: BroadcastSource<Int>) -> Holder<Subscription> {
  Holder((0..<10).map { _ in source.publisher.subscribe { cb_tls_add(Int64($0)) } })
}

/// Waits for the last delivery, because a sender may return before its update is delivered.
private func waitUntilDelivered(_ source: BroadcastSource<Int>) {
  while source.pendingUpdates > 0 { sched_yield() }
}

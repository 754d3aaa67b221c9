import Foundation
import MiniRex

extension Suite {
  func fanout() {
    for n in [1, 10, 1000, 100_000] {
      bench("fanout-\(n)", "minirex", units: Double(n)) {
        let source = opaque(BroadcastSource<Int>())
        let acc = Acc()
        let tokens = Holder((0..<n).map { _ in source.publisher.subscribe { acc.add($0) } })
        return { k in
          for i in 0..<k { source.broadcast(i) }
          withExtendedLifetime(tokens) {}
        }
      }
      bench("fanout-\(n)", "NotificationCenter", units: Double(n)) {
        let acc = Acc()
        let post = postToObservers(n) { acc.add(1) }
        return { k in for _ in 0..<k { post() } }
      }
    }
  }
}

/// Posts without an object or a payload, which is the cheapest post.
func postToObservers(_ n: Int, _ receive: @escaping @Sendable () -> Void) -> () -> Void {
  let center = opaque(NotificationCenter())
  let name = Notification.Name("benchmark")
  let tokens = Holder(
    (0..<n).map { _ in center.addObserver(forName: name, object: nil, queue: nil) { _ in receive() }
    })
  return {
    center.post(name: name, object: nil)
    withExtendedLifetime(tokens) {}
  }
}

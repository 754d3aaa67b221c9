import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// One post with ten receivers: ten registrations, or one registration that the adapter shares.
extension Suite {
  func notifications() {
    bench("notification-10", "minirex") {
      let center = opaque(NotificationCenter())
      let name = Notification.Name("benchmark")
      let posts = center.broadcaster(for: name)
      let acc = Acc()
      let tokens = Holder((0..<10).map { _ in posts.subscribe { _ in acc.add(1) } })
      return { k in
        for _ in 0..<k { center.post(name: name, object: nil) }
        withExtendedLifetime(tokens) {}
      }
    }
    bench("notification-10", "NotificationCenter") {
      let acc = Acc()
      let post = postToObservers(10) { acc.add(1) }
      return { k in for _ in 0..<k { post() } }
    }
  }
}

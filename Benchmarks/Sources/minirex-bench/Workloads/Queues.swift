import Foundation
import MiniRex
import MiniRexFoundationAdapters

extension Suite {
  func queues() {
    bench("receive-on-queue", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let queue = DispatchQueue(label: "benchmark")
      let acc = Acc()
      let token = source.publisher.receive(on: queue).subscribe { acc.add($0) }
      return { k in
        for i in 0..<k { source.broadcast(i) }
        queue.sync {}
        withExtendedLifetime(token) {}
      }
    }
    bench("receive-on-queue", "bare") {
      let s = MutexSubject()
      let queue = DispatchQueue(label: "benchmark")
      let acc = Acc()
      s.add { v in queue.async { acc.add(v) } }
      return { k in
        for i in 0..<k { s.send(i) }
        queue.sync {}
      }
    }
  }
}

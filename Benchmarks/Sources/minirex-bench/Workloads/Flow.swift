import Foundation
import MiniRex

/// Sends that wait for their subscribers.
extension Suite {
  func flow() {
    bench("flow-send", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      let token = source.publisher.subscribe { acc.add($0) }
      return { k in
        withExtendedLifetime(token) {
          blocking { for i in 0..<k { try? await source.send(i) } }
        }
      }
    }
    bench("flow-send", "broadcast") {
      let source = opaque(BroadcastSource<Int>())
      let acc = Acc()
      let token = source.publisher.subscribe { acc.add($0) }
      return { k in
        withExtendedLifetime(token) {
          blocking { for i in 0..<k { source.broadcast(i) } }
        }
      }
    }
    for limit in [1, 64, 1_024] {
      bench("flow-suspending-\(limit)", "minirex") { sending(to: 1, limit) }
    }
    for loops in [10, 100, 1_000] {
      bench("flow-loops-\(loops)", "minirex", units: Double(loops)) { sending(to: loops, 64) }
    }
  }
}

/// Sends to loops, and returns when all of them have received the last update.
private func sending(to loops: Int, _ limit: Int) -> Run {
  let source = opaque(BroadcastSource<Int>())
  let done = DispatchSemaphore(value: 0)
  for _ in 0..<loops {
    let values = source.publisher.values(.suspending(limit))
    let acc = Acc()
    Task.detached {
      for await update in values {
        acc.add(update)
        if update == 0 { done.signal() }
      }
    }
  }
  return { k in
    blocking { for i in stride(from: k - 1, through: 0, by: -1) { try? await source.send(i) } }
    for _ in 0..<loops { done.wait() }
  }
}

import Foundation
import MiniRex

/// One task loops over the updates that this thread sends.
///
/// A burst ends when the loop has received all of it and suspends again, so each burst starts by
/// resuming the loop.
extension Suite {
  func async() {
    bench("async-burst", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let isTaken = DispatchSemaphore(value: 0)
      let updates = source.publisher.values(.unbounded)
      consume(updates, isTaken)
      return { k in bursts(k, isTaken) { source.broadcast($0) } }
    }
    bench("async-burst", "AsyncStream") {
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      let isTaken = DispatchSemaphore(value: 0)
      consume(stream, isTaken)
      return { k in bursts(k, isTaken) { continuation.yield($0) } }
    }
    bench("async-pingpong", "minirex") {
      let ping = opaque(BroadcastSource<Int>())
      let pong = opaque(BroadcastSource<Int>())
      let pings = ping.publisher.values(.unbounded)
      Task.detached { for await i in pings { pong.broadcast(i) } }
      return { k in
        blocking {
          var pongs = pong.publisher.values(.unbounded).makeAsyncIterator()
          for i in 0..<k {
            ping.broadcast(i)
            _ = await pongs.next()
          }
        }
      }
    }
    bench("async-pingpong", "AsyncStream") {
      let (pings, ping) = AsyncStream<Int>.makeStream()
      let (pongs, pong) = AsyncStream<Int>.makeStream()
      Task.detached { for await i in pings { pong.yield(i) } }
      return { k in
        blocking {
          var pongs = pongs.makeAsyncIterator()
          for i in 0..<k {
            ping.yield(i)
            _ = await pongs.next()
          }
        }
      }
    }
  }
}

private let burst = 1000

private func bursts(_ k: Int, _ isTaken: DispatchSemaphore, send: (Int) -> Void) {
  var left = k
  while left > 0 {
    let size = min(left, burst)
    for i in stride(from: size - 1, through: 0, by: -1) { send(i) }
    isTaken.wait()
    left -= size
  }
}

/// Receives bursts.
///
/// Each burst counts down to 0.
private func consume<Updates: AsyncSequence & Sendable>(
  _ updates: Updates, _ isTaken: DispatchSemaphore
) where Updates.Element == Int, Updates.Failure == Never {
  let acc = Acc()
  Task.detached {
    for await update in updates {
      acc.add(update)
      if update == 0 { isTaken.signal() }
    }
  }
}

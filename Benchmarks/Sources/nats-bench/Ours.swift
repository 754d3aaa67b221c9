#if NATS
import Foundation
import MiniRex
import MiniRexNATS

struct ConsumerState: Codable, Sendable {
  var sensor: Int
  var celsius: Double
}

func connection(_ url: String, sendLimit: Int = 256 << 10) async -> NATSConnection {
  var options = NATSOptions()
  // As in C: nothing is dropped, and publishing waits for the socket.
  options.sendLimit = sendLimit
  options.receiveLimit = .max
  options.receiveLimitInBytes = .max
  let nats = NATSConnection(url, options: options)
  for await status in nats.status.values(.bufferingNewest(1)) where status == .connected { break }
  return nats
}

extension NATSConnection {
  /// Returns when the server has processed all earlier subscriptions.
  fileprivate func flush() async {
    _ = await request(String.self, "", on: "nobody", timeout: .seconds(60)).result
  }
}

/// The same counter as in C.
///
/// Unchecked: callbacks of one subscription never overlap.
private final class Counter: @unchecked Sendable {
  @exclusivity(unchecked) var left: Int

  init(left: Int) { self.left = left }
}

func seconds<Payload: Codable & Sendable>(
  of payload: Payload, _ count: Int, _ url: String
) async -> Double {
  let (sender, receiver) = (await connection(url), await connection(url))
  let done = DispatchSemaphore(value: 0)
  let counter = Counter(left: count)
  let token = receiver.broadcaster(of: Payload.self, on: "bench").subscribe { _ in
    counter.left -= 1
    if counter.left == 0 { done.signal() }
  }
  await receiver.flush()
  let took = ContinuousClock().measure {
    for _ in 0..<count {
      while (try? sender.publish(payload, on: "bench")) == nil { usleep(50) }
    }
    done.wait()
  }
  token.invalidate()
  await sender.close()
  await receiver.close()
  return took / .seconds(1)
}

func requests(_ count: Int, _ url: String) async -> [Double] {
  let (asking, answering) = (await connection(url), await connection(url))
  let service = answering.reply(on: "bench") { (request: Data) in
    PublishedTask<Data, Never>.success(request)
  }
  await answering.flush()
  let (payload, clock) = (Data(count: 16), ContinuousClock())
  let done = DispatchSemaphore(value: 0)
  let times = (0..<count).map { _ in
    clock.measure {
      let token = asking.request(Data.self, payload, on: "bench", timeout: .seconds(5))
        .subscribe { _ in done.signal() }
      done.wait()
      withExtendedLifetime(token) {}
    } / .nanoseconds(1)
  }
  withExtendedLifetime(service) {}
  await asking.close()
  await answering.close()
  return times
}

func subscription(_ count: Int, _ url: String) async -> Double {
  let nats = await connection(url)
  await nats.flush()
  let bag = SubscriptionBag()
  let before = heapBytes()
  for number in 0..<count {
    nats.broadcaster(of: Data.self, on: "bench.\(number)").subscribe { _ in }.store(in: bag)
  }
  await nats.flush()
  let bytes = (heapBytes() - before) / Double(count)
  bag.invalidate()
  await nats.close()
  return bytes
}
#endif

#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import Synchronization

private struct Cost {
  let memory = Cost.count("/proc/self/statm") * 4_096
  let threads = Cost.entries("/proc/self/task")
  let descriptors = Cost.entries("/proc/self/fd")

  private static func field(_ text: String) -> Int {
    text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  private static func count(_ file: String) -> Int {
    field((try? String(contentsOfFile: file, encoding: .utf8)) ?? "")
  }

  private static func entries(_ folder: String) -> Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
  }
}

/// Opens the connections with their subscriptions, and sends one message to each subscription.
func measureScale(connections: Int, subscriptions: Int, _ url: String) async {
  let clock = ContinuousClock()
  let left = Atomic(connections * subscriptions)
  let done = DispatchSemaphore(value: 0)
  let bag = SubscriptionBag()
  let before = Cost()
  var all: [NATSConnection] = []
  let making = await clock.measure {
    for number in 0..<connections {
      let nats = NATSConnection(url)
      all.append(nats)
      for part in 0..<subscriptions {
        nats.broadcaster(of: Data.self, on: "scale.\(number).\(part)").subscribe { _ in
          if left.subtract(1, ordering: .relaxed).newValue == 0 { done.signal() }
        }.store(in: bag)
      }
    }
    for nats in all {
      _ = await nats.request(String.self, "", on: "nobody", timeout: .seconds(60)).result
    }
  }
  let after = Cost()
  let sending = clock.measure {
    for (number, nats) in all.enumerated() {
      for part in 0..<subscriptions {
        try? nats.publish(Data(count: 16), on: "scale.\(number).\(part)")
      }
    }
    done.wait()
  }
  let count = connections * subscriptions
  print("\(connections) connections with \(subscriptions) subscriptions each, made in \(making)")
  print(
    "  memory \((after.memory - before.memory) / connections) bytes for a connection with its subscriptions"
  )
  print(
    "  threads \(after.threads - before.threads), descriptors \(after.descriptors - before.descriptors)"
  )
  print(
    "  \(Int(Double(count) / (sending / .seconds(1)))) messages a second, one to each subscription")
  // Concurrently: libnats polls ten times a second until a draining connection is empty.
  await withTaskGroup(of: Void.self) { closings in
    for nats in all { closings.addTask { await nats.close() } }
  }
}
#endif

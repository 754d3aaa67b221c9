import Foundation
import MiniRex

/// Sends each line of a guest to all guests.
func chat(
  _ arrivals: Broadcaster<Arrival>, log: @escaping @Sendable (String) -> Void
) -> Subscription {
  let said = BroadcastSource<String>(name: "said")
  return
    arrivals
    .scan((number: -1, arrival: Arrival?.none)) { ($0.number + 1, $1) }
    .flatMap(limit: .max) { number, arrival -> Broadcaster<String> in
      switch arrival {
      case .connected(let client): talk(of: "guest \(number)", client, hearing: said.publisher)
      case .listening(let host, let port): .sequence(["listening on \(host):\(port)"])
      case .failed(let error): .sequence(["cannot listen: \(error.localizedDescription)"])
      case nil: .sequence([])
      }
    }
    .subscribe { line in
      log(line)
      said.broadcast(line)
    }
}

/// Emits the lines of a guest, and sends all lines to the guest until it disconnects.
private func talk(
  of name: String, _ client: Connection, hearing said: Broadcaster<String>
) -> Broadcaster<String> {
  let farewell = "\(name) leaves"
  // A slow guest misses the oldest lines, and delays no other guest.
  let heard = said.prefix { $0 != farewell }.values(.bufferingNewest(1_000))
  Task {
    for await line in heard {
      if await client.send(line).result != .success(0) { break }
    }
    client.close()
  }
  return client.lines
    .map { "\(name): \($0)" }
    .prepend("\(name) comes")
    .append(.sequence([farewell]))
}

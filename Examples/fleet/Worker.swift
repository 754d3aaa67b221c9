#if NATS
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexFoundationAdapters
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore

/// The state that all workers share.
struct Work: Codable, Sendable {
  var count = 0
  var last = ""
}

/// Adds to the shared state each second.
///
/// `kill -USR1` makes the process count wrong.
func work(as name: String, over url: String, until fleet: pid_t) async throws -> Never {
  let graph = LiveGraph()
  setDefaultInstrument(graph)
  let nats = connect(to: url)
  let log = nats.log("work", snapshotEvery: 10)
  let step = PublishedProperty(1, name: "step")
  let replica = try Replica<Work, String>(Work(), of: log, verifies: true) {
    $0.count += step.value
    $0.last = $1
    return .none
  }
  let bag = SubscriptionBag()
  DispatchSource.signals(SIGUSR1).subscribe { _ in step.value = 2 }.store(in: bag)
  // A restarted server may have an empty disk.
  nats.status.filter { $0 == .connected }.subscribe { _ in
    log.create().subscribe { _ in }.detached()
  }.store(in: bag)
  DispatchQueue(label: "work").broadcaster(every: .seconds(1)).subscribe { _ in
    replica.send(name)
  }.store(in: bag)
  let member = FleetMember(
    of: "example", over: nats, name: name, version: "1.0.0", inspecting: graph)
  member.ready(when: nats.isReady, name: "nats")
  member.watch(replica, name: "work")
  await end(of: fleet)
  withExtendedLifetime((member, bag)) {}
  exit(0)
}

/// Serves the page of the fleet.
func showPage(port: UInt16, over url: String, until fleet: pid_t) async throws -> Never {
  let page = try FleetPage(of: "example", over: connect(to: url), port: port)
  await end(of: fleet)
  withExtendedLifetime(page) {}
  exit(0)
}

/// Returns a connection that notices within three seconds that the server does not answer.
private func connect(to url: String) -> NATSConnection {
  var options = NATSOptions()
  options.pingInterval = .seconds(1)
  return NATSConnection(url, options: options)
}
#endif

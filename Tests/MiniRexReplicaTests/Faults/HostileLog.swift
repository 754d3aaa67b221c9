import Foundation
import MiniRex
import MiniRexReplica
import TestSupport

/// A log with any numbers, headers, and snapshots.
final class HostileLog: ReplicaLog {
  let events = BroadcastSource<ReplicaLogEvent>()
  let snapshots = Shared<[Data?]>([])
  private let written = BroadcastSource<ReplicaDigest>()
  private let beginning: [ReplicaLogEvent]

  init(beginning: [ReplicaLogEvent] = []) { self.beginning = beginning }

  func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
    .success(.max)
  }

  func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
    Broadcaster { [events, beginning] receive in
      for event in beginning { receive(event) }
      return events.publisher.subscribe { receive($0) }
    }
  }

  func snapshot(through sequence: UInt64) -> PublishedTask<Data?, ReplicaLogError> {
    .success(snapshots.change { $0.popLast() ?? nil })
  }

  func addSnapshot(_ snapshot: ReplicaLogSnapshot) -> PublishedTask<Void, ReplicaLogError> {
    written.broadcast(ReplicaDigest(snapshot))
    return .success(())
  }

  var snapshotDistance: Int { 1 }

  func digests() -> Broadcaster<ReplicaDigest> { written.publisher }
}

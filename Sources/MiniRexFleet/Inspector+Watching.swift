#if NATS
internal import MiniRex
public import MiniRexInspector
public import MiniRexNATS
public import MiniRexReplica

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Inspector {
  /// Adds the health and the counters of a connection to `GET /metrics`.
  ///
  /// See `NATSStatistics` for the meaning of the values. The inspector does not retain the connection, and its values end
  /// with it.
  ///
  /// - Parameters:
  ///   - nats: The connection.
  ///   - name: The label `name` of its values.
  public func watch(_ nats: NATSConnection, name: String = "NATS") {
    measure(name) { [weak nats] in nats?.metrics ?? [] }
  }

  /// Adds the progress of a replica to `GET /metrics`.
  ///
  /// See `ReplicaProgress` for the meaning of the values. The inspector does not retain the replica, and its values end with
  /// it. It does not show the commits of the store: watch its `store` also.
  ///
  /// - Parameters:
  ///   - replica: The replica.
  ///   - name: The label `name` of its values.
  public func watch<State, Action>(_ replica: Replica<State, Action>, name: String) {
    measure(name) { [weak replica] in replica?.progress.current()?.metrics ?? [] }
  }
}

extension NATSConnection {
  fileprivate var metrics: [InspectorMetric] {
    let counts = statistics
    var metrics = [
      InspectorMetric(
        "minirex_nats_ready", help: "1 while the connection is established.",
        value: isReady.current() == true ? 1 : 0),
      counter("messages_in", "Received messages.", counts.messagesIn),
      counter("bytes_in", "Received bytes.", counts.bytesIn),
      counter("messages_out", "Sent messages.", counts.messagesOut),
      counter("bytes_out", "Sent bytes.", counts.bytesOut),
      counter("reconnects", "Lost connections that were established again.", counts.reconnects),
      counter("dropped", "Received messages that were dropped.", counts.dropped),
      InspectorMetric(
        "minirex_nats_queued_bytes", help: "Bytes queued for the server.",
        value: Double(counts.queuedBytes)),
    ]
    if let time = counts.roundTripTime {
      metrics.append(
        InspectorMetric(
          "minirex_nats_round_trip_seconds", help: "The time between a PING and its answer.",
          value: time / .seconds(1)))
    }
    return metrics
  }

  private func counter(_ name: String, _ help: String, _ count: Int) -> InspectorMetric {
    InspectorMetric("minirex_nats_\(name)_total", .counter, help: help, value: Double(count))
  }
}

extension ReplicaProgress {
  fileprivate var metrics: [InspectorMetric] {
    [
      InspectorMetric(
        "minirex_replica_current", help: "1 while the replica has read the log.",
        value: phase == .current ? 1 : 0),
      InspectorMetric(
        "minirex_replica_stopped", help: "1 after the replica has stopped.",
        value: phase == .stopped ? 1 : 0),
      InspectorMetric(
        "minirex_replica_sequence", help: "The sequence of the last entry that was read.",
        value: Double(sequence)),
      InspectorMetric(
        "minirex_replica_behind", help: "Entries of the log that the replica has not read.",
        value: Double(behind)),
      InspectorMetric(
        "minirex_replica_pending", help: "Actions that are not decided.", value: Double(pending)),
      InspectorMetric(
        "minirex_replica_oldest_pending_seconds", help: "The age of the oldest pending action.",
        value: oldestPending.map { max(0, Date().timeIntervalSince($0)) } ?? 0),
    ]
  }
}
#endif

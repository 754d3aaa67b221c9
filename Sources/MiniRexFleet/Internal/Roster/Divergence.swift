#if NATS
/// Finds the replicas whose state differs from the state of most replicas after the same entry.
///
/// Of two equally frequent states, neither is known to be the right one, so all of these replicas differ.
struct Divergence: Sendable {
  private struct Entry: Hashable {
    let replica: String
    let point: ReceivedDigest.Point
  }

  /// The names of the differing replicas, by the identifier of their process.
  private(set) var names: [String: [String]] = [:]

  init(_ rows: some Collection<RosterRow>) {
    var counts: [Entry: [Int: Int]] = [:]
    for row in rows {
      for (name, digests) in row.digests {
        for digest in digests {
          counts[Entry(replica: name, point: digest.point), default: [:]][
            digest.checksum, default: 0] += 1
        }
      }
    }
    for row in rows {
      for (name, digests) in row.digests.sorted(by: { $0.key < $1.key }) {
        // The newest entry that another process reports as well decides.
        for digest in digests.reversed() {
          let states = counts[Entry(replica: name, point: digest.point)] ?? [:]
          if states.values.reduce(0, +) < 2 { continue }
          let own = states[digest.checksum] ?? 0
          let others = states.filter { $0.key != digest.checksum }.values.max() ?? 0
          if own <= others { names[row.id, default: []].append(name) }
          break
        }
      }
    }
  }
}
#endif

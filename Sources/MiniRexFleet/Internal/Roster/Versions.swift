#if NATS
/// Finds the processes with another version than most processes of the same name.
struct Versions: Sendable {
  /// The most frequent version of each name, and of equally frequent versions the newest.
  private var usual: [String: String] = [:]

  init(_ reports: [ReceivedReport]) {
    var counts: [String: [String: Int]] = [:]
    for report in reports { counts[report.name, default: [:]][report.version, default: 0] += 1 }
    usual = counts.compactMapValues { versions in
      versions.max { one, other in
        (one.value, Self.numbers(one.key), one.key) < (
          other.value, Self.numbers(other.key), other.key
        )
      }?.key
    }
  }

  func isOther(_ report: ReceivedReport) -> Bool { usual[report.name] != report.version }

  /// The version as one number, in which 1.10 is newer than 1.9.
  private static func numbers(_ version: String) -> Double {
    let parts = version.prefix { $0 != "-" && $0 != "+" }.split(separator: ".")
    return parts.prefix(3).reduce(0) { $0 * 100_000 + (Double($1) ?? 0) }
  }
}
#endif

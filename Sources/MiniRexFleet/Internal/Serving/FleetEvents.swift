#if NATS
internal import Foundation

/// The state of the fleet for browsers: the changes since the previous one, and everything for a new page.
struct FleetUpdate: Sendable {
  let serverAnswers: Bool
  let refusedCount: Int
  let changed: [RosterRow]
  let removed: [String]
  /// All rows, which share their storage with the roster.
  let rows: [String: RosterRow]
  let time: ContinuousClock.Instant

  /// The event for a page without rows.
  func whole() -> Data {
    Data("retry: 1000\n".utf8) + event("all", rows.values, removed: [])
  }

  /// The event for a page with the rows of the previous update.
  func change() -> Data { event("changes", changed, removed: removed) }

  private func event(
    _ name: String, _ rows: some Sequence<RosterRow>, removed: [String]
  ) -> Data {
    var data = Data(
      "event: \(name)\ndata: {\"answers\":\(serverAnswers),\"refused\":\(refusedCount)".utf8)
    data.append(contentsOf: ",\"time\":\(Date().milliseconds),\"removed\":[".utf8)
    data.append(contentsOf: removed.map { "\"\($0)\"" }.joined(separator: ",").utf8)
    data.append(contentsOf: "],\"rows\":[".utf8)
    var isFirst = true
    for row in rows {
      if !isFirst { data.append(UInt8(ascii: ",")) }
      isFirst = false
      append(row, to: &data)
    }
    data.append(contentsOf: "]}\n\n".utf8)
    return data
  }

  /// The identifier needs no escape, the names have theirs, and the report is JSON on one line.
  private func append(_ row: RosterRow, to data: inout Data) {
    let silence = max(.zero, row.heardAt.duration(to: time))
    let (seconds, attoseconds) = silence.components
    data.append(
      contentsOf: "{\"id\":\"\(row.id)\",\"concern\":\(row.concern(at: time).rawValue)".utf8)
    data.append(
      contentsOf: ",\"silence\":\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)".utf8)
    if row.restartCount > 0 { data.append(contentsOf: ",\"restarts\":\(row.restartCount)".utf8) }
    if row.isCopied(at: time) { data.append(contentsOf: ",\"isCopied\":true".utf8) }
    if row.isOtherVersion { data.append(contentsOf: ",\"isOtherVersion\":true".utf8) }
    if !row.differences.isEmpty {
      let names = row.differences.map { "\"\($0)\"" }.joined(separator: ",")
      data.append(contentsOf: ",\"differences\":[\(names)]".utf8)
    }
    data.append(contentsOf: ",\"report\":".utf8)
    data.append(contentsOf: row.report.text)
    data.append(UInt8(ascii: "}"))
  }
}
#endif

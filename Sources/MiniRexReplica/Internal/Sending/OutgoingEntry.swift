#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Pending actions that are sent together.
struct OutgoingEntry: Sendable {
  let header: EntryHeader
  let connection: Int
  private var lines: [Data] = []
  /// The number of bytes of the lines with their separators.
  private(set) var size = -1

  init(header: EntryHeader, connection: Int) {
    (self.header, self.connection) = (header, connection)
  }

  /// The number of the last action.
  var last: Int { header.number + lines.count - 1 }

  mutating func append(_ line: Data) {
    lines.append(line)
    size += line.count + 1
  }

  /// Joins the lines, which takes longer than collecting them under a lock.
  var message: ReplicaMessage {
    var payload = Data(capacity: size)
    for (index, line) in lines.enumerated() {
      if index > 0 { payload.append(UInt8(ascii: "\n")) }
      payload.append(line)
    }
    return ReplicaMessage(header: header.text, payload: payload)
  }
}

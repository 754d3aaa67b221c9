import Foundation

/// A measurement of the machine.
struct Sample: Encodable, Equatable, Sendable {
  /// The load averages over 1, 5, and 15 minutes.
  var load = [0.0, 0.0, 0.0]
  /// The memory in bytes, or `nil` on systems without `/proc/meminfo`.
  var memory: Memory?
  /// The number of changes in the directory at that time.
  let changes: Int

  struct Memory: Encodable, Equatable, Sendable { let used, total: Int }

  init(changes: Int) {
    self.changes = changes
    unsafe getloadavg(&load, 3)
    let text = (try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8)) ?? ""
    let words = text.split { $0.isWhitespace }
    guard words.count > 7, let total = Int(words[1]), let available = Int(words[7]) else { return }
    memory = Memory(used: (total - available) * 1024, total: total * 1024)
  }
}

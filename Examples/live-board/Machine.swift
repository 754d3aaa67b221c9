import Foundation

/// What the machine does at a moment.
struct Sample: Encodable, Equatable, Sendable {
  /// The processes that run or want to, on average over 1, 5 and 15 minutes.
  var load = [0.0, 0.0, 0.0]
  /// In bytes; `nil` where there is no `/proc`, as Linux has it, and the page says so.
  var memory: Memory?
  /// How many changes the directory has seen by now.
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

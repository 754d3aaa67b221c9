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
    let kilobytes = text.matches(of: /Mem(?:Total|Available): +(\d+)/).compactMap { Int($0.1) }
    if kilobytes.count == 2 {
      memory = Memory(used: (kilobytes[0] - kilobytes[1]) * 1024, total: kilobytes[0] * 1024)
    }
  }
}

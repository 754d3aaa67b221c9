internal import Foundation
internal import MiniRex
internal import MiniRexPageServer

/// What an inspector keeps, and how often it looks.
struct Settings: Sendable {
  /// How long pages wait for what is new.
  var interval = Duration.milliseconds(250)
  /// Over how long rates are measured, at least.
  var rates = Duration.seconds(1)
  /// How many commits are kept for each store.
  var commits = 200
  /// How much the changes of these may take, in bytes.
  var bytes = 4 << 20
  /// How many commits wait to be encoded, with their states.
  var waitingCommits = 64
  /// How many paths of a state, or of a change, are shown.
  var paths = 2_000
  /// How many nodes Graphviz is asked to lay out.
  var nodes = 400
  /// What lays out; `nil` if the machine has none.
  var graphviz = Settings.foundGraphviz
  var limits = Limits.ofPages

  private static var foundGraphviz: URL? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = path.split(separator: ":").map(String.init)
    return (folders + ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"])
      .filter { $0.hasPrefix("/") }.map { URL(filePath: $0).appending(path: "dot") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}

extension Limits {
  /// Few look.
  fileprivate static var ofPages: Limits {
    var limits = Limits()
    limits.connections = 64
    return limits
  }
}

/// 64 bits that nobody guesses.
func randomWord() -> String {
  let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
  return String(repeating: "0", count: 16 - digits.count) + digits
}

/// Sees nothing: what serves the page is none of what the program does.
struct Unwatched: Instrument {
  func record(_ event: InstrumentEvent) {}
}

internal import Foundation
internal import MiniRex
internal import MiniRexPageServer

/// The limits and intervals of an inspector.
struct Settings: Sendable {
  /// The interval between two events of a page.
  var interval = Duration.milliseconds(250)
  /// The minimum interval over which rates are measured.
  var rates = Duration.seconds(1)
  /// The maximum number of commits in the log of each store.
  var commits = 200
  /// The maximum size of the changes in the log of each store, in bytes.
  var bytes = 4 << 20
  /// The maximum number of commits of each store that are queued for encoding.
  var waitingCommits = 64
  /// The maximum number of paths of a state, or of a change, on the page.
  var paths = 2_000
  /// The maximum number of nodes in a picture.
  ///
  /// A larger graph is shown as text.
  var nodes = 400
  /// The executable `dot`, or `nil` if it is not installed.
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
  /// An inspector serves few pages.
  fileprivate static var ofPages: Limits {
    var limits = Limits()
    limits.connections = 64
    return limits
  }
}

/// An instrument that ignores all events, for the inspector's own sources and tasks.
struct Unwatched: Instrument {
  func record(_ event: InstrumentEvent) {}
}

/// The options of the command line.
struct Options {
  static let usage = "usage: minirex-tail [--once] [--match TEXT] [--graph FILE] FILE..."

  /// A Boolean value that indicates whether the program exits at the end of the files.
  var isOnce = false
  var match: [UInt8]?
  /// The file for a drawing of the graph, written at the end.
  var graph: String?
  var files: [String] = []

  /// Parses arguments, or returns `nil` if an option is unknown, or a value or every file is
  /// missing.
  init?(_ arguments: ArraySlice<String>) {
    var rest = arguments
    while let argument = rest.popFirst() {
      switch argument {
      case "--once": isOnce = true
      case "--match" where !rest.isEmpty: match = Array(rest.removeFirst().utf8)
      case "--graph" where !rest.isEmpty: graph = rest.removeFirst()
      case _ where argument.hasPrefix("-"): return nil
      default: files.append(argument)
      }
    }
    if files.isEmpty { return nil }
  }
}

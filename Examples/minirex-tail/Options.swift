/// What the command line asks for.
struct Options {
  static let usage = "usage: minirex-tail [--once] [--match TEXT] [--graph FILE] FILE..."

  /// Read to the end, instead of waiting for more.
  var isOnce = false
  var match: [UInt8]?
  /// Where to draw, in the end, what was subscribed to what.
  var graph: String?
  var files: [String] = []

  /// `nil` if there is an unknown option, or a value or every file is missing.
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

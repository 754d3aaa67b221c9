/// What the command line asks for.
struct Options: Sendable {
  static let usage = "usage: minirex-tail [--once] [--match TEXT] [--graph FILE] FILE..."

  /// Read to the end, instead of waiting for more.
  var isOnce = false
  var match: [UInt8]?
  /// Where to draw, in the end, what was subscribed to what.
  var graph: String?
  var files: [String] = []

  /// `nil` if there is an unknown option, or a value or every file is missing.
  init?(_ arguments: some Sequence<String>) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      switch argument {
      case "--once":
        isOnce = true
      case "--match":
        guard let text = rest.next() else { return nil }
        match = Array(text.utf8)
      case "--graph":
        guard let file = rest.next() else { return nil }
        graph = file
      case "--":
        while let file = rest.next() { files.append(file) }
      default:
        if argument.hasPrefix("-") { return nil }
        files.append(argument)
      }
    }
    if files.isEmpty { return nil }
  }
}

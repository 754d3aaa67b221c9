/// What the command line asks for.
struct Options: Sendable, Equatable {
  static let usage = """
    usage: issue-board [--directory PATH] [--journal FILE] [--port NUMBER | --terminal]
                       [--graph FILE] [--inspect PORT]
    """

  var directory = "."
  /// Where the board outlives the program.
  var journal: String?
  /// Where to draw, in the end, the store, its parts, and who is subscribed to them.
  var graph: String?
  /// Where to show that, and each commit, while it runs.
  var inspect: UInt16?
  /// 0 for any that is free; `nil` for a terminal instead of browsers.
  var port: UInt16? = 8080

  /// `nil` if there is an unknown option, or a value is missing or makes no sense.
  init?(_ arguments: some Sequence<String>) {
    var rest = arguments.makeIterator()
    while let option = rest.next() {
      if option == "--terminal" {
        port = nil
        continue
      }
      guard let value = rest.next() else { return nil }
      switch (option, UInt16(value)) {
      case ("--directory", _): directory = value
      case ("--journal", _): journal = value
      case ("--graph", _): graph = value
      case ("--inspect", let port?): inspect = port
      case ("--port", let port?) where self.port != nil: self.port = port
      default: return nil
      }
    }
  }
}

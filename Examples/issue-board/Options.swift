/// The options of the command line.
struct Options: Sendable, Equatable {
  static let usage = """
    usage: issue-board [--directory PATH] [--journal FILE [--keep COMMITS]] [--port NUMBER | --terminal]
                       [--graph FILE] [--inspect PORT] [--cards NUMBER --changes NUMBER]
    """

  /// The followed folder, by default the sample project.
  var directory = "Examples/tide-clock"
  /// The file that keeps the board between runs.
  var journal: String?
  /// The number of commits that the journal keeps at least.
  var keptCommits: Int?
  /// The file for a drawing of the store, its scopes, and their subscribers, written at the end.
  var graph: String?
  /// The number of generated cards, instead of a folder, and of random changes each second.
  var cards: Int?
  var changes = 0
  /// The port of an inspector.
  var inspect: UInt16?
  /// The port for browsers, 0 for any free port, or `nil` for the terminal.
  var port: UInt16? = 8080

  /// Parses arguments, or returns `nil` if an option is unknown or a value is missing or invalid.
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
      case ("--keep", _) where Int(value).map { $0 > 0 } == true: keptCommits = Int(value)
      case ("--cards", _) where Int(value).map { $0 >= 0 } == true: cards = Int(value)
      case ("--changes", _) where Int(value).map { $0 >= 0 } == true: changes = Int(value) ?? 0
      case ("--graph", _): graph = value
      case ("--inspect", let port?): inspect = port
      case ("--port", let port?) where self.port != nil: self.port = port
      default: return nil
      }
    }
    if journal == nil, keptCommits != nil { return nil }
    if cards == nil, changes > 0 { return nil }
  }
}

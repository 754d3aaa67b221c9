/// The options of the command line.
struct Options: Sendable {
  /// The port, or 0 for any free port.
  var port: UInt16 = 8080
  /// The path of the journal.
  var journal = "counters.journal"
  /// The seconds between SIGTERM and the refusal of connections, in which `/ready` reports 503.
  var notice = 0.0

  /// Parses arguments, or returns `nil` if an option is unknown or a value is missing or invalid.
  init?(_ arguments: some Sequence<String>) {
    var rest = arguments.makeIterator()
    while let option = rest.next() {
      guard let value = rest.next() else { return nil }
      switch (option, UInt16(value), Double(value)) {
      case ("--port", let port?, _): self.port = port
      case ("--journal", _, _): journal = value
      case ("--notice", _, let seconds?) where (0...3600).contains(seconds): notice = seconds
      default: return nil
      }
    }
  }
}

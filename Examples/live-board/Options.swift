import Foundation

/// The options of the command line.
struct Options: Encodable, Equatable, Sendable {
  /// The port, or 0 for any free port.
  var port: UInt16 = 8080
  var directory = URL(filePath: ".").path
  /// The time between two samples, in seconds.
  var interval = 1.0

  /// Parses arguments, or returns `nil` if an option is unknown or a value is missing or invalid.
  init?(_ arguments: some Sequence<String>) {
    var rest = arguments.makeIterator()
    while let option = rest.next() {
      guard let value = rest.next() else { return nil }
      switch (option, UInt16(value), Double(value)) {
      case ("--port", let port?, _): self.port = port
      case ("--directory", _, _): directory = URL(filePath: value).path
      case ("--every", _, let seconds?) where (0.01...3600).contains(seconds): interval = seconds
      default: return nil
      }
    }
  }
}

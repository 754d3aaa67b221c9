import Foundation

/// What the command line asks for.
struct Options: Encodable, Equatable, Sendable {
  /// 0 for any that is free.
  var port: UInt16 = 8080
  var directory = URL(filePath: ".").path
  /// The seconds between two samples.
  var interval = 1.0

  /// `nil` if there is an unknown option, or a value is missing or makes no sense.
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

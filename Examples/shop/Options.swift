import Foundation

/// The options of the command line.
struct Options: Sendable {
  static let usage =
    "usage: shop [--port NUMBER] [--inspect NUMBER] [--journal FILE] [--bank URL]"

  /// The ports, or 0 for any free port.
  var port: UInt16 = 8080
  var inspectorPort: UInt16 = 8081
  var journal = URL(filePath: "shop.journal")
  var bank = Bank(address: nil)

  /// Parses arguments, or returns `nil` if an option is unknown or a value is missing or invalid.
  init?(_ arguments: some Sequence<String>) {
    var rest = arguments.makeIterator()
    while let option = rest.next() {
      guard let value = rest.next() else { return nil }
      switch (option, UInt16(value), URL(string: value)) {
      case ("--port", let port?, _): self.port = port
      case ("--inspect", let port?, _): inspectorPort = port
      case ("--journal", _, _): journal = URL(filePath: value)
      case ("--bank", _, let address?): bank = Bank(address: address)
      default: return nil
      }
    }
  }
}

/// A key in the path of a value, or an index of an array.
struct FlatKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }

  init(escaped text: some StringProtocol, isPlace: Bool) {
    stringValue = text.split(separator: "~", omittingEmptySubsequences: false)
      .enumerated().map { place, child in
        place == 0 ? "\(child)" : (child.hasPrefix("1") ? "/" : "~") + child.dropFirst()
      }
      .joined()
    intValue = isPlace ? Int(text) : nil
  }

  /// Escapes a key as in JSON Pointer.
  static func escape(_ key: String) -> String {
    if !key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) {
      return key
    }
    var escaped = ""
    for scalar in key.unicodeScalars {
      switch scalar {
      case "~": escaped += "~0"
      case "/": escaped += "~1"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

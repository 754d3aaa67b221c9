// The character classes of HTTP. Each function reads each byte once.

extension UInt8 {
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  var isUppercase: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

  var lowercased: UInt8 { isUppercase ? self | 0x20 : self }

  /// A Boolean value that indicates whether the byte is a space or a tab.
  var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  /// A Boolean value that indicates whether a header name may contain the byte.
  var isOfToken: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "^")...UInt8(ascii: "z"), UInt8(ascii: "#")...UInt8(ascii: "'"),
      UInt8(ascii: "!"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// A Boolean value that indicates whether a host name may contain the byte.
  fileprivate var isOfName: Bool {
    switch self {
    case UInt8(ascii: "/"): false
    case UInt8(ascii: "$")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "!"), UInt8(ascii: ";"),
      UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// A Boolean value that indicates whether a numeric address in brackets may contain the byte.
  fileprivate var isOfAddress: Bool {
    hexadecimal != nil || self == UInt8(ascii: ":") || self == UInt8(ascii: ".")
  }

  /// The value of a hexadecimal digit.
  fileprivate var hexadecimal: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension ArraySlice<UInt8> {
  var withoutBlanks: ArraySlice<UInt8> {
    let text = drop(while: \.isBlank)
    let end = text.lastIndex { !$0.isBlank }
    return text[..<(end.map { $0 + 1 } ?? text.startIndex)]
  }

  /// Returns the parts before and after the first separator.
  func divided(at separator: UInt8) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
    guard let index = firstIndex(of: separator) else { return (self, nil) }
    return (self[..<index], self[(index + 1)...])
  }

  /// A Boolean value that indicates whether the bytes are a host name or an address, possibly empty,
  /// with or without a port.
  var isHost: Bool {
    if first == UInt8(ascii: "[") {
      let (address, rest) = dropFirst().divided(at: UInt8(ascii: "]"))
      return !address.isEmpty && address.allSatisfy(\.isOfAddress) && rest?.isPort == true
    }
    let name = prefix { $0 != UInt8(ascii: ":") }
    return name.allSatisfy(\.isOfName) && name.withoutPercents != nil
      && self[name.endIndex...].isPort
  }

  /// A Boolean value that indicates whether the bytes are empty, or a colon and digits.
  private var isPort: Bool {
    isEmpty || first == UInt8(ascii: ":") && dropFirst().allSatisfy(\.isDigit)
  }

  /// The percent-decoded bytes, or `nil` if a `%` lacks its two hexadecimal digits.
  var withoutPercents: [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(count)
    var index = startIndex
    while index < endIndex {
      guard self[index] == UInt8(ascii: "%") else {
        decoded.append(self[index])
        index += 1
        continue
      }
      guard index + 2 < endIndex, let high = self[index + 1].hexadecimal,
        let low = self[index + 2].hexadecimal
      else { return nil }
      decoded.append(high << 4 | low)
      index += 3
    }
    return decoded
  }
}

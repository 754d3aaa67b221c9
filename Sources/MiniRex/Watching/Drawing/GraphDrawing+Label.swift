extension GraphDrawing.Node {
  /// Returns HTML: the name in bold, then a line of small print each for the place and the note.
  ///
  /// - Parameters:
  ///   - small: The tags around small print.
  ///   - mark: The first character of an entity.
  func label(_ small: (String, String), escaping mark: Unicode.Scalar) -> String {
    [place, note].compactMap { $0 }.reduce(
      into: "<b>\(GraphDrawing.escaped(name, mark))</b>"
    ) { result, text in
      result += "<br/>\(small.0)\(GraphDrawing.escaped(text, mark))\(small.1)"
    }
  }
}

extension GraphDrawing {
  /// Returns one line of text for HTML and XML, where control characters are invalid.
  ///
  /// - Parameter mark: The first character of an entity: `&`, or `#` in Mermaid.
  package static func escaped(_ text: String, _ mark: Unicode.Scalar = "&") -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "\(mark)amp;"
      case "<": result += "\(mark)lt;"
      case ">": result += "\(mark)gt;"
      case "\"": result += "\(mark)quot;"
      case "#" where mark == "#": result += "#35;"
      case "\t"..."\r", "\u{85}", "\u{2028}", "\u{2029}": result += " "
      case ..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

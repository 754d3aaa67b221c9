/// Two unequal values, cut around their first difference.
struct ValuePair: CustomStringConvertible {
  let description: String

  init(_ actual: Any, _ expected: Any) {
    var texts = (Self.text(of: actual), Self.text(of: expected))
    if texts.0 == texts.1 {
      let types = ("\(type(of: actual))", "\(type(of: expected))")
      if types.0 == types.1 {
        description =
          "unequal to the expected value, which prints the same: \(Self.cut(texts.0, after: 0))"
        return
      }
      texts = ("\(texts.0) as \(types.0)", "\(texts.1) as \(types.1)")
    }
    let common = zip(texts.0, texts.1).prefix { $0 == $1 }.count
    description =
      "\(Self.cut(texts.0, after: common)), expected \(Self.cut(texts.1, after: common))"
  }

  private static func text(of value: Any) -> String {
    string(value).map { String(reflecting: $0) } ?? ValueText(value, limit: 2_000).text
  }

  private static func cut(_ text: String, after common: Int) -> String {
    if text.count <= 120 { return text }
    let start = max(0, common - 30)
    let part = text.dropFirst(start).prefix(120)
    return (start > 0 ? "…" : "") + part + (part.endIndex < text.endIndex ? "…" : "")
  }
}

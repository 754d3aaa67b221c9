/// The text of an error of an encoder or decoder: its kind, the type, and the coding path.
///
/// It never has a value, because a failure ends in logs. The key of a dictionary is such a value, so only the cases of
/// an enumeration and the numbers of elements appear in a path. The description of an error is omitted, because it can
/// quote a value.
func codingFailure(_ error: any Error) -> String {
  let text: String
  switch error {
  case DecodingError.keyNotFound(let key, let context):
    text = "the key \(name(of: key)) is missing\(place(context.codingPath))"
  case DecodingError.typeMismatch(let type, let context):
    text = "a value is not of type \(type)\(place(context.codingPath))"
  case DecodingError.valueNotFound(let type, let context):
    text = "a value of type \(type) is missing\(place(context.codingPath))"
  case DecodingError.dataCorrupted(let context):
    text = "a value is invalid\(place(context.codingPath))"
  case EncodingError.invalidValue(let value, let context):
    text = "a value of type \(type(of: value)) is invalid\(place(context.codingPath))"
  default:
    text = "an error of type \(type(of: error)) was thrown"
  }
  return text.count <= longestText ? text : text.prefix(longestText - 1) + "…"
}

/// The text of a failure has at most 300 characters, and its sentence has up to 70 of them.
private let longestText = 230

/// Returns ` at share.notes[3]`, with the last keys of a long path, or nothing for the outermost value.
private func place(_ path: [any CodingKey]) -> String {
  if path.isEmpty { return "" }
  let last = path.suffix(8)
  return " at " + (last.count < path.count ? "…" : "")
    + last.map { key in key.intValue.map { "[\($0)]" } ?? ".\(name(of: key))" }.joined()
}

private func name(of key: any CodingKey) -> String {
  Mirror(reflecting: key).displayStyle == .enum ? key.stringValue : "*"
}

/// A bounded description of a value, the same in every run.
///
/// Elements of dictionaries and sets are sorted.
struct ValueText {
  private(set) var text = ""
  private let limit: Int

  private static let depthLimit = 6
  private static let elementLimit = 10

  init(_ value: Any, limit: Int = 120) {
    self.limit = limit
    append(value, depth: 0)
    if text.count > limit { text = text.prefix(limit - 1) + "…" }
  }

  private mutating func append(_ value: Any, depth: Int) {
    if text.utf8.count > 4 * limit { return }
    if value is Character {
      text += String(reflecting: value)
      return
    }
    if let string = string(value) {
      text += String(reflecting: String(string.prefix(limit)))
      return
    }
    let reflection = Reflection(value)
    if let own = reflection.ownText {
      text += own.prefix(limit)
    } else if depth > Self.depthLimit {
      text += "…"
    } else {
      append(reflection, depth: depth + 1)
    }
  }

  private mutating func append(_ value: Reflection, depth: Int) {
    let members = value.members
    switch value.style {
    case .optional: appendOptional(members.first?.value, depth: depth)
    case .collection: appendList(members.map(\.value), depth: depth)
    case .set: appendList(members.map(\.value), isSorted: true, depth: depth)
    case .dictionary: appendEntries(value.entries, depth: depth)
    case .tuple: appendMembers(members, depth: depth)
    case .enum:
      guard let payload = members.first else {
        text += String(describing: value.value)
        return
      }
      text += payload.label ?? ""
      if Mirror(reflecting: payload.value).displayStyle == .tuple {
        append(payload.value, depth: depth)
      } else {
        appendMembers([Mirror.Child(label: nil, value: payload.value)], depth: depth)
      }
    default:
      if members.isEmpty && !(value.style == .struct || value.style == .class) {
        text += String(describing: value.value).prefix(limit)
      } else {
        text += String(describing: type(of: value.value))
        appendMembers(members, depth: depth)
      }
    }
  }

  private mutating func appendOptional(_ value: Any?, depth: Int) {
    guard let value else {
      text += "nil"
      return
    }
    let isNested = Mirror(reflecting: value).displayStyle == .optional
    if isNested { text += "some(" }
    append(value, depth: depth)
    if isNested { text += ")" }
  }

  private mutating func appendList(_ values: [Any], isSorted: Bool = false, depth: Int) {
    let shown = isSorted ? sorted(values, first: Self.elementLimit) : values
    text += "["
    for (index, value) in shown.prefix(Self.elementLimit).enumerated() {
      if index > 0 { text += ", " }
      append(value, depth: depth)
    }
    appendRest(of: values.count)
    text += "]"
  }

  private mutating func appendEntries(
    _ entries: [AnyHashable: (key: Any, value: Any)], depth: Int
  ) {
    text += entries.isEmpty ? "[:" : "["
    let keys = sorted(entries.values.map(\.key), first: Self.elementLimit)
    for (index, key) in keys.enumerated() {
      if index > 0 { text += ", " }
      append(key, depth: depth)
      text += ": "
      if let entry = entries[MiniRexStoreTesting.key(of: key)] { append(entry.value, depth: depth) }
    }
    appendRest(of: entries.count)
    text += "]"
  }

  private mutating func appendRest(of count: Int) {
    if count > Self.elementLimit { text += ", … \(count - Self.elementLimit) more" }
  }

  private mutating func appendMembers(_ members: [Mirror.Child], depth: Int) {
    text += "("
    for (index, member) in members.enumerated() {
      if text.utf8.count > 4 * limit { break }
      if index > 0 { text += ", " }
      if let label = member.label, !label.hasPrefix(".") { text += "\(label): " }
      append(member.value, depth: depth)
    }
    text += ")"
  }
}

/// Returns the values sorted by type, and then by `<` or by their texts.
func sorted(_ values: [Any], first limit: Int = .max) -> [Any] {
  let keys = values.map { SortKey($0) }
  if limit >= keys.count { return keys.sorted { $0.isLess(than: $1) }.map(\.value) }
  var first: [SortKey] = []
  for key in keys {
    if first.count == limit, let last = first.last, !key.isLess(than: last) { continue }
    first.insert(key, at: first.firstIndex { key.isLess(than: $0) } ?? first.count)
    if first.count > limit { first.removeLast() }
  }
  return first.map(\.value)
}

private struct SortKey {
  let value: Any
  private let type: String
  /// The text by which values without `<` are sorted.
  private let text: String?

  init(_ value: Any) {
    self.value = unwrapped(value)
    type = String(describing: Swift.type(of: self.value))
    text = self.value is any Comparable ? nil : ValueText(self.value).text
  }

  func isLess(than other: SortKey) -> Bool {
    if type != other.type { return type < other.type }
    if let text, let otherText = other.text { return text < otherText }
    func compare<Value: Comparable>(_ value: Value) -> Bool {
      (other.value as? Value).map { value < $0 } ?? false
    }
    return (value as? any Comparable).map { compare($0) } ?? false
  }
}

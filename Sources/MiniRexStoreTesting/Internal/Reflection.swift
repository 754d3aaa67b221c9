/// A value with its members.
struct Reflection {
  let value: Any
  let style: Mirror.DisplayStyle?
  /// The members, superclass members first, without addresses, which differ from run to run.
  let members: [Mirror.Child]

  /// Bounds mirrors that generate their members.
  private static let memberLimit = 200_000

  init(_ value: Any) {
    let value = unwrapped(value)
    let mirror = Mirror(reflecting: value)
    self.value = value
    style = mirror.displayStyle
    var members = Array(mirror.children.prefix(Self.memberLimit))
    var superclass = mirror.superclassMirror
    while let mirror = superclass {
      members = mirror.children + members
      superclass = mirror.superclassMirror
    }
    self.members = members.filter { !isPointer($0.value) }
  }

  /// The identity of an object, or `nil` for a value.
  var object: ObjectIdentifier? {
    type(of: value) is AnyClass ? ObjectIdentifier(value as AnyObject) : nil
  }

  /// The description that the type defines, or `nil` for a container, whose description is unbounded.
  var ownText: String? {
    switch style {
    case .collection, .set, .dictionary, .optional, .tuple: return nil
    default: break
    }
    if value is any CustomStringConvertible { return String(describing: value) }
    if value is any CustomDebugStringConvertible { return String(reflecting: value) }
    return nil
  }

  /// A Boolean value that indicates whether the texts of two values show more than their members.
  func isLeaf(beside other: Reflection) -> Bool {
    if members.isEmpty && other.members.isEmpty { return true }
    guard let text = ownText, let otherText = other.ownText else { return false }
    return text != otherText
      && [text, otherText].allSatisfy { $0.count <= 120 && !$0.contains("\n") }
  }

  /// The entries of a dictionary.
  var entries: [AnyHashable: (key: Any, value: Any)] {
    var entries: [AnyHashable: (key: Any, value: Any)] = [:]
    for member in members {
      let parts = Mirror(reflecting: member.value).children.map(\.value)
      if parts.count == 2 { entries[key(of: parts[0])] = (parts[0], parts[1]) }
    }
    return entries
  }
}

/// Returns `nil` if the type has no equality.
func areEqual(_ one: Any, _ other: Any) -> Bool? {
  func compare<Value: Equatable>(_ one: Value) -> Bool {
    (other as? Value).map { $0 == one } ?? false
  }
  return (unwrapped(one) as? any Equatable).map { compare($0) }
}

/// Returns the text of a string or substring.
func string(_ value: Any) -> String? {
  value as? String ?? (value as? Substring).map { String($0) }
}

func isNaN(_ value: Any) -> Bool { (value as? any FloatingPoint)?.isNaN ?? false }

/// Returns an equal key for equal values, and for NaN.
///
/// Values without a hash are equal here if they print the same.
func key(of value: Any) -> AnyHashable {
  if isNaN(value) { return AnyHashable(NaNKey()) }
  return value as? AnyHashable ?? AnyHashable(ValueText(value).text)
}

/// Returns the id of a row.
///
/// Returns `nil` if the id is the identity of an object, because no two objects share it.
func id(of value: Any) -> AnyHashable? {
  guard let row = value as? any Identifiable else { return nil }
  func id<Row: Identifiable>(_ row: Row) -> AnyHashable { AnyHashable(row.id) }
  let found = id(row)
  return found.base is ObjectIdentifier ? nil : found
}

private struct NaNKey: Hashable {}

func unwrapped(_ value: Any) -> Any {
  type(of: value) == AnyHashable.self ? (value as? AnyHashable)?.base ?? value : value
}

private func isPointer(_ value: Any) -> Bool {
  unsafe value is UnsafeRawPointer || value is UnsafeMutableRawPointer || value is OpaquePointer
}

/// A JSON value of an action or a state, which an upcaster changes.
///
/// A number keeps its text, so that no digit is lost. Literals make values: `["by": "ada", "count": 1]`.
public enum JournalJSON: Sendable, Hashable {
  case null
  case boolean(Bool)
  /// A number, as it is written: `1e400`, `0.10`.
  case number(String)
  case string(String)
  case array([JournalJSON])
  case object([String: JournalJSON])

  /// Accesses the member of an object with the given name.
  ///
  /// The value is `nil` if the object has no such member, or if the value is not an object. Assigning `nil` removes the
  /// member. Assigning a member of a value that is not an object has no effect.
  public subscript(name: String) -> JournalJSON? {
    get {
      if case .object(let members) = self { members[name] } else { nil }
    }
    set {
      guard case .object(var members) = self else { return }
      self = .null
      members[name] = newValue
      self = .object(members)
    }
  }

  /// Accesses the element of an array with the given index.
  ///
  /// The value is `nil` if the array has no such element, or if the value is not an array. Assigning `nil` removes the
  /// element. Assigning an element that does not exist has no effect.
  public subscript(index: Int) -> JournalJSON? {
    get {
      if case .array(let elements) = self, elements.indices.contains(index) {
        elements[index]
      } else {
        nil
      }
    }
    set {
      guard case .array(var elements) = self, elements.indices.contains(index) else { return }
      self = .null
      if let newValue { elements[index] = newValue } else { elements.remove(at: index) }
      self = .array(elements)
    }
  }

  /// Renames a member of an object.
  ///
  /// It replaces a member that already has the new name. Without a member of the old name, it has no effect.
  ///
  /// - Parameters:
  ///   - old: The name of the member.
  ///   - new: Its new name.
  public mutating func rename(_ old: String, to new: String) {
    guard let value = self[old] else { return }
    self[old] = nil
    self[new] = value
  }
}

extension JournalJSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Creates `true` or `false`.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }

  /// Creates a number without a fraction.
  public init(integerLiteral value: Int) { self = .number("\(value)") }

  /// Creates a number with the shortest text that has the same value.
  public init(floatLiteral value: Double) { self = .number("\(value)") }

  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }

  /// Creates an array.
  public init(arrayLiteral elements: JournalJSON...) { self = .array(elements) }

  /// Creates an object.
  ///
  /// Traps if a name occurs twice.
  public init(dictionaryLiteral members: (String, JournalJSON)...) {
    self = .object(Dictionary(uniqueKeysWithValues: members))
  }
}

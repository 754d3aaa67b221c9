#if NATS
/// The headers of a message, in order.
///
/// ```swift
/// try nats.publish(order, on: "orders.placed", headers: ["Trace": "4711"])
/// ```
///
/// Names are case-sensitive and may repeat. Sending fails with ``NATSError/invalidHeader(_:)`` if a
/// name or a value is empty or contains a line break. Received values may be empty.
public struct NATSHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// One line of the headers.
  public struct Field: Hashable, Sendable {
    /// The name of the header.
    public var name: String
    /// The value of the header.
    public var value: String

    /// Creates a line from a name and a value.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The lines, in the order in which they are sent.
  public var fields: [Field]

  /// Creates headers from lines.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Creates headers from a dictionary literal, in its order.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.isEmpty ? [] : elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// A Boolean value that indicates whether there are no lines.
  public var isEmpty: Bool { fields.isEmpty }

  /// Accesses the first value with the given name.
  ///
  /// Setting a value replaces all values of the name.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name == name }?.value }
    set {
      fields.removeAll { $0.name == name }
      if let newValue { fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// Returns all values with the given name.
  public func values(of name: String) -> [String] {
    fields.compactMap { $0.name == name ? $0.value : nil }
  }
}
#endif

/// The headers of a message, in their order.
///
/// ```swift
/// try nats.publish(order, on: "orders.placed", headers: ["Trace": "4711"])
/// ```
///
/// Names are told apart by their case. A name may stand there several times. A name or a value that
/// is empty or has an end of line in it is refused when it is to be sent.
public struct NATSHeaders: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  /// One line of the headers.
  public struct Field: Hashable, Sendable {
    /// What it is called.
    public var name: String
    /// What it says.
    public var value: String

    /// Makes one line.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All lines; those of one name keep their order on the way, those of several may not.
  public var fields: [Field]

  /// Makes headers of lines.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// Makes headers as they are written.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.isEmpty ? [] : elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// True if there are none.
  public var isEmpty: Bool { fields.isEmpty }

  /// The first value of that name; setting it replaces all of them.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name == name }?.value }
    set {
      fields.removeAll { $0.name == name }
      if let newValue { fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// All values of that name.
  public func values(of name: String) -> [String] {
    fields.compactMap { $0.name == name ? $0.value : nil }
  }
}

extension NATSHeaders {
  /// What would be a line of its own, or break off the block, is not sent; nor what is empty, for
  /// which libnats takes the next line.
  func check() throws(NATSError) {
    for field in fields {
      let nameIsFine =
        !field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
      let valueIsFine =
        field.value.utf8.contains { $0 > 0x20 }
        && field.value.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
      if !nameIsFine || !valueIsFine { throw .invalidHeader(field.name) }
    }
  }
}

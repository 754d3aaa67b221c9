/// The encoded entries.
final class FlatOutput {
  var entries: [FlatEntry] = []
  /// The encoders of nested containers.
  ///
  /// `Encodable` has no call that finishes a container.
  var nested: [FlatEncoder] = []
}

/// Encodes one value, and provides its containers with paths.
///
/// Whether a container is empty is known only after the value was encoded.
final class FlatEncoder: Encoder {
  enum Content { case nothing, null, scalar, object, array }

  let output: FlatOutput
  let path: String
  private let parent: FlatEncoder?
  private let isMember: Bool
  private(set) var content = Content.nothing
  private var hasContent = false
  private(set) var count = 0
  private(set) var prefix = ""

  init(
    _ output: FlatOutput, path: String = "", in parent: FlatEncoder? = nil, isMember: Bool = false
  ) {
    self.output = output
    self.path = path
    self.parent = parent
    self.isMember = isMember
  }

  var userInfo: [CodingUserInfoKey: Any] { [:] }

  var codingPath: [any CodingKey] { (parent?.codingPath ?? []) + (key.map { [$0] } ?? []) }

  private var key: FlatKey? {
    guard let parent else { return nil }
    return FlatKey(escaped: path.dropFirst(parent.prefix.count), isPlace: !isMember)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    open(.object)
    return KeyedEncodingContainer(FlatKeyedContainer(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    open(.array)
    return FlatUnkeyedContainer(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    FlatScalarContainer(encoder: self)
  }

  private func open(_ content: Content) {
    self.content = content
    if !path.isEmpty || parent != nil { prefix = path + "/" }
  }

  /// Writes a scalar.
  ///
  /// `nil` is written by `finish`.
  func write(_ value: FlatValue?) {
    content = value == nil ? .null : .scalar
    if let value { append(value) }
  }

  private func append(_ value: FlatValue) {
    output.entries.append(FlatEntry(path: path, value: value))
    parent?.hasContent = true
  }

  func writeMember(_ value: FlatValue, _ key: some CodingKey) {
    hasContent = true
    output.entries.append(FlatEntry(path: path(of: key), value: value))
  }

  func writeElement(_ value: FlatValue) {
    hasContent = true
    output.entries.append(FlatEntry(path: nextPath(), value: value))
  }

  func encodeMember(_ value: some Encodable, _ key: some CodingKey) throws {
    try encode(value, by: FlatEncoder(output, path: path(of: key), in: self, isMember: true))
  }

  func encodeElement(_ value: some Encodable) throws {
    try encode(value, by: FlatEncoder(output, path: nextPath(), in: self))
  }

  private func encode(_ value: some Encodable, by encoder: FlatEncoder) throws {
    try value.encode(to: encoder)
    encoder.finish()
  }

  func nestedMember(_ key: some CodingKey) -> FlatEncoder {
    nest(FlatEncoder(output, path: path(of: key), in: self, isMember: true))
  }

  func nestedElement() -> FlatEncoder { nest(FlatEncoder(output, path: nextPath(), in: self)) }

  private func nest(_ encoder: FlatEncoder) -> FlatEncoder {
    hasContent = true
    output.nested.append(encoder)
    return encoder
  }

  /// Writes empty containers.
  func finish(isNested: Bool = false) {
    switch content {
    case .scalar: return
    case .null: if !isMember || isNested { append(.null) }
    case .array where hasContent, .object where hasContent: parent?.hasContent = true
    case .array: append(.emptyArray)
    case .nothing, .object: append(.emptyObject)
    }
  }

  private func path(of key: some CodingKey) -> String { prefix + FlatKey.escape(key.stringValue) }

  private func nextPath() -> String {
    defer { count += 1 }
    return prefix + String(count)
  }
}

/// A scalar of a state, or an empty container.
///
/// Integers with the same value are equal, signed or unsigned. A Boolean value never equals a
/// number, and an integer never equals a floating-point number. NaN equals NaN. The description is
/// JSON. Nonfinite numbers become the strings `"NaN"`, `"Infinity"`, and `"-Infinity"`.
public enum FlatValue: Sendable, Hashable, CustomStringConvertible {
  /// An explicit `nil` in an array or at the top level.
  case null
  /// An array without elements.
  case emptyArray
  /// An object without members.
  case emptyObject
  /// A Boolean value.
  case bool(Bool)
  /// An integer that fits in `Int64`.
  case int(Int64)
  /// An integer that fits only in `UInt64`.
  case uint(UInt64)
  /// A floating-point number.
  case double(Double)
  /// A string.
  case string(String)

  init(_ value: some BinaryInteger) throws {
    if let value = Int64(exactly: value) {
      self = .int(value)
    } else if let value = UInt64(exactly: value) {
      self = .uint(value)
    } else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(value) does not fit into 64 bits."))
    }
  }

  /// Returns `true` if both values are equal and of the same kind.
  public static func == (one: FlatValue, other: FlatValue) -> Bool {
    switch (one, other) {
    case (.null, .null), (.emptyArray, .emptyArray), (.emptyObject, .emptyObject): true
    case (.bool(let one), .bool(let other)): one == other
    case (.int(let one), .int(let other)): one == other
    case (.uint(let one), .uint(let other)): one == other
    case (.int(let one), .uint(let other)): one == other
    case (.uint(let one), .int(let other)): one == other
    case (.double(let one), .double(let other)): one == other || one.isNaN && other.isNaN
    case (.string(let one), .string(let other)): one == other
    default: false
    }
  }

  /// Hashes the value consistently with `==`.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .emptyArray: hasher.combine(1)
    case .emptyObject: hasher.combine(2)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(UInt64(truncatingIfNeeded: value))
    case .uint(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.isNaN ? .nan : value)
    case .string(let value): hasher.combine(value)
    }
  }

  /// The value as JSON.
  public var description: String {
    switch self {
    case .null: "null"
    case .emptyArray: "[]"
    case .emptyObject: "{}"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .uint(let value): "\(value)"
    case .double(let value) where value.isNaN: "\"NaN\""
    case .double(let value) where value.isInfinite: value < 0 ? "\"-Infinity\"" : "\"Infinity\""
    case .double(let value): "\(value)"
    case .string(let value): quoted(value)
    }
  }
}

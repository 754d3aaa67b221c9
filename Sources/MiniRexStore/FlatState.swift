/// A value, flattened to paths and scalars.
///
/// ```swift
/// print(try FlatState(todos))  // 0/id: 1, 0/text: "Wash", 1/id: 2, 1/text: "Cook"
/// ```
///
/// A path consists of keys and indexes, joined by `/`. As in JSON Pointer, `~` in a key becomes
/// `~0`, and `/` becomes `~1`. A top-level scalar has the empty path. `nil` members are omitted.
/// Foundation types keep their own encoding: a date is a number, and data is an array of bytes.
///
/// Flattening encodes the value once.
public struct FlatState: Sendable, Hashable, CustomStringConvertible {
  /// The entries in encoding order, so two states of the same shape are compared pairwise.
  let entries: [FlatEntry]

  /// Encodes a value.
  ///
  /// - Throws: The error that `value` throws. Also throws `EncodingError` if `value` encodes
  ///   nothing.
  public init(_ value: some Encodable) throws {
    let output = FlatOutput()
    defer { output.nested = [] }
    let encoder = FlatEncoder(output)
    try value.encode(to: encoder)
    if encoder.content == .nothing {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(type(of: value)) encodes nothing."))
    }
    encoder.finish()
    for encoder in output.nested { encoder.finish(isNested: true) }
    entries = output.entries
  }

  /// Creates a state from entries.
  ///
  /// Without entries, it represents a missing predecessor.
  init(entries: [FlatEntry] = []) { self.entries = entries }

  /// The scalars and empty containers by path, computed in O(n).
  public var values: [String: FlatValue] { entries[...].values }

  /// Returns the differences from another state, by path.
  ///
  /// Complexity: O(n). Two states with the same paths need no dictionary.
  public func changes(since old: FlatState) -> [String: FlatChange] {
    var changes: [String: FlatChange] = [:]
    var common = 0
    for (entry, old) in zip(entries, old.entries) {
      if entry.path != old.path { break }
      common += 1
      if entry.value != old.value {
        changes[entry.path] = .changed(from: old.value, to: entry.value)
      }
    }
    if common == entries.count && common == old.entries.count { return changes }
    var removed = old.entries[common...].values
    for (path, value) in entries[common...].values {
      let old = removed.removeValue(forKey: path)
      if old != value { changes[path] = old.map { .changed(from: $0, to: value) } ?? .added(value) }
    }
    for (path, value) in removed { changes[path] = .removed(value) }
    return changes
  }

  /// Returns `true` if both states have the same values at the same paths.
  public static func == (one: FlatState, other: FlatState) -> Bool {
    one.entries == other.entries || one.values == other.values
  }

  /// Hashes the paths and the values, independent of their order.
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }

  /// The sorted paths, each with its value.
  public var description: String {
    values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }
}

struct FlatEntry: Sendable, Equatable {
  let path: String
  let value: FlatValue
}

extension ArraySlice<FlatEntry> {
  /// The values by path.
  ///
  /// The last value encoded for a path wins.
  var values: [String: FlatValue] {
    Dictionary(lazy.map { ($0.path, $0.value) }) { $1 }
  }
}

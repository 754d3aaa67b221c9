/// A value as paths and scalars.
///
/// ```swift
/// print(try FlatState(todos))  // 0/id: 1, 0/text: "Wash", 1/id: 2, 1/text: "Cook"
/// ```
///
/// A path is the keys and places joined by `/`; in a key, `~` is written `~0`, and `/` is written `~1`, as
/// in JSON Pointer. The path of a scalar that is the whole is empty. Members that are `nil` are left out.
/// Making one encodes the value once. Types of Foundation are as they encode themselves: a date is a
/// number, and data are its bytes.
public struct FlatState: Sendable, Hashable, CustomStringConvertible {
  /// In the order in which they are encoded, so that two of one shape are compared side by side.
  let entries: [FlatEntry]

  /// Encodes a value.
  ///
  /// - Throws: What the value throws, and `EncodingError` if it encodes nothing at all.
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

  /// What a state is compared with that has none before it.
  init() { entries = [] }

  /// The scalars and empty containers by their paths; O(n), as it is made when it is asked for.
  public var values: [String: FlatValue] { entries[...].values }

  /// What is different from another one, by path.
  ///
  /// It costs O(n), and little if both have the same paths.
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

  /// True if they have the same values at the same paths.
  public static func == (one: FlatState, other: FlatState) -> Bool {
    one.entries == other.entries || one.values == other.values
  }

  /// Hashes paths and values, in any order.
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }

  /// The paths in order, each with its value.
  public var description: String {
    values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }
}

struct FlatEntry: Sendable, Equatable {
  let path: String
  let value: FlatValue
}

extension ArraySlice<FlatEntry> {
  /// What was encoded last for a path counts.
  var values: [String: FlatValue] {
    Dictionary(lazy.map { ($0.path, $0.value) }) { $1 }
  }
}

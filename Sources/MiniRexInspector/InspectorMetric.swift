internal import MiniRex

/// A value of your program for `GET /metrics`.
public struct InspectorMetric: Hashable, Sendable {
  /// The meaning of a value.
  public enum Kind: Hashable, Sendable {
    /// A count that never decreases. Its name should end in `_total`.
    case counter
    /// A value that can decrease.
    case gauge
  }

  /// The name, with letters, digits, and underscores.
  public let name: String
  /// The meaning.
  public let kind: Kind
  /// A sentence for people.
  public let help: String
  /// The value.
  public let value: Double

  /// Creates a value.
  ///
  /// - Parameters:
  ///   - name: The name. Traps unless it has only ASCII letters, digits, and underscores, and begins with no digit.
  ///   - kind: The meaning. The default is a gauge.
  ///   - help: A sentence for people, on one line.
  ///   - value: The value.
  public init(_ name: String, _ kind: Kind = .gauge, help: String, value: Double) {
    let isValid = name.utf8.allSatisfy {
      $0 == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
    }
    if !isValid || name.first.map({ "0"..."9" ~= $0 }) ?? true {
      misuse("'\(name)' is no name of a metric. Use letters, digits, and underscores.")
    }
    (self.name, self.kind, self.help, self.value) = (name, kind, help, value)
  }
}

extension Inspector {
  /// Adds values of your program to `GET /metrics`.
  ///
  /// ```swift
  /// inspector.measure("uploads") {
  ///   [InspectorMetric("waiting_uploads", help: "Uploads that wait.", value: uploads.waitingCount)]
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: The label `name` of the values, which distinguishes sources with the same names.
  ///   - metrics: A closure that each request calls, on its thread. The inspector retains it.
  public func measure(_ source: String, _ metrics: @escaping @Sendable () -> [InspectorMetric]) {
    inspection.add(Measurement(source: source, metrics: metrics))
  }
}

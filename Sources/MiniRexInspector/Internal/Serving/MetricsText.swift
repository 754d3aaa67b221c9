internal import Foundation

/// A response in the text format of Prometheus, version 0.0.4.
struct MetricsText: Sendable {
  static let type = "text/plain; version=0.0.4; charset=utf-8"

  enum Kind: String, Sendable { case counter, gauge, histogram }

  typealias Labels = [(name: String, value: String)]

  private(set) var text = ""

  /// Writes a family, or nothing if it has no series.
  mutating func add(
    _ name: String, _ kind: Kind, _ help: String, _ series: [(labels: Labels, value: Int)]
  ) {
    if series.isEmpty { return }
    begin(name, kind, help)
    for (labels, value) in series { write(name, labels, "\(value)") }
  }

  /// Writes a family of values of the program.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ series: [(Labels, Double)]) {
    begin(name, kind, MetricsText.onOneLine(help))
    for (labels, value) in series { write(name, labels, short(value)) }
  }

  private static func onOneLine(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Writes a family of histograms, or nothing if it has no series.
  ///
  /// - Parameter bounds: The upper bounds in seconds. Each histogram has one more count, for longer
  ///   times.
  mutating func add(
    _ name: String, _ help: String, bounds: [Double],
    _ series: [(labels: Labels, counts: [Int], sum: Double)]
  ) {
    if series.isEmpty { return }
    begin(name, .histogram, help)
    for (labels, counts, sum) in series {
      var total = 0
      for (bound, count) in zip(bounds.map(short) + ["+Inf"], counts) {
        total += count
        write("\(name)_bucket", labels + [("le", bound)], "\(total)")
      }
      write("\(name)_sum", labels, short(sum))
      write("\(name)_count", labels, "\(total)")
    }
  }

  private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  private mutating func write(_ name: String, _ labels: Labels, _ value: String) {
    let pairs = labels.map { "\($0.name)=\"\(MetricsText.escaped($0.value))\"" }
    text += "\(name){\(pairs.joined(separator: ","))} \(value)\n"
  }

  /// Returns the value of a label, on one line.
  ///
  /// Works on scalars, because "\r\n" is one character.
  static func escaped(_ value: String) -> String {
    value.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

private func short(_ number: Double) -> String {
  if number.isNaN { return "NaN" }
  if number.isInfinite { return number > 0 ? "+Inf" : "-Inf" }
  let text = "\(number)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

#if NATS
import Foundation

/// The figures of one operation, and their goal.
struct Row {
  enum Goal {
    case none
    case most(Double)
    case least(Double)
    /// The limits of the ratio to libnats.
    case mostOfC(Double)
    case leastOfC(Double)
    case mostAboveC(Double)
  }

  let name: String
  let unit: String
  /// A Boolean value that indicates whether more is better.
  var isRate = false
  var ours: [Double]
  var bare: [Double] = []
  var python: [Double] = []
  var goal = Goal.none

  private var isMet: Bool {
    let mine = median(ours)
    return switch goal {
    case .none: true
    case .most(let limit): mine <= limit
    case .least(let limit): mine >= limit
    case .mostOfC(let limit): mine <= limit * median(bare)
    case .leastOfC(let limit): mine >= limit * median(bare)
    case .mostAboveC(let limit): mine - median(bare) <= limit
    }
  }

  private var goalText: String {
    switch goal {
    case .none: "–"
    case .most(let limit): "≤ \(text(limit))"
    case .least(let limit): "≥ \(text(limit))"
    case .mostOfC(let limit): "≤ \(text(limit)) of libnats"
    case .leastOfC(let limit): "≥ \(text(limit)) of libnats"
    case .mostAboveC(let limit): "≤ \(text(limit)) above libnats"
    }
  }

  /// The best and the median figure.
  private func cell(_ figures: [Double]) -> String {
    guard let best = isRate ? figures.max() : figures.min() else { return "–" }
    return figures.count == 1 ? text(best) : "\(text(best)) / \(text(median(figures)))"
  }

  var line: String {
    let ratio = bare.isEmpty ? "–" : text(median(ours) / median(bare))
    return "| \(name) | \(unit) | \(cell(ours)) | \(cell(bare)) | \(cell(python)) | \(ratio) "
      + "| \(goalText)\(isMet ? "" : " ✗") |"
  }

  static let head = """
    | | unit | MiniRex | libnats | nats-py | ratio | goal |
    |---|---|---|---|---|---|---|
    """
}

/// Writes three digits, with groups of thousands.
private func text(_ number: Double) -> String {
  if abs(number) < 10 { return String(format: "%.2f", number) }
  if abs(number) < 100 { return String(format: "%.1f", number) }
  var rest = String(Int(number.rounded()))
  var groups: [Substring] = []
  while rest.count > 3 {
    groups.insert(rest.suffix(3), at: 0)
    rest = String(rest.dropLast(3))
  }
  return ([rest[...]] + groups).joined(separator: ",")
}
#endif

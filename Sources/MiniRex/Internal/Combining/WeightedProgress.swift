/// The weighted progress of several parts.
struct WeightedProgress: Sendable {
  private let weights: [Double]
  private let total: Double
  private var fractions: [Double]
  private var doneCount = 0
  private var sum = 0.0

  init(weights: [Double]) {
    self.weights = weights
    total = weights.reduce(0, +)
    fractions = [Double](repeating: 0, count: weights.count)
  }

  /// - Parameter fraction: The progress of the part, clamped to 0 through 1.
  /// - Returns: The total progress, if it has changed.
  mutating func set(_ fraction: Double, of index: Int) -> Double? {
    let fraction = fraction > 0 ? min(fraction, 1) : 0
    let old = fractions[index]
    if fraction == old { return nil }
    fractions[index] = fraction
    doneCount += (fraction == 1 ? 1 : 0) - (old == 1 ? 1 : 0)
    sum += weights[index] * (fraction - old)
    // Rounding must not keep the total below 1 when all parts are done.
    return doneCount == weights.count ? 1 : min(sum / total, 1)
  }
}

/// Returns the weights passed to `all`, or 1 for each task.
func checkedWeights(_ weights: [Double]?, count: Int) -> [Double] {
  let weights = weights ?? [Double](repeating: 1, count: count)
  if weights.count != count {
    misuse("'all' requires a weight for each of its \(count) tasks, not \(weights.count) weights.")
  }
  let sum = weights.reduce(0, +)
  if count > 0, !(weights.allSatisfy { $0 >= 0 } && sum > 0 && sum.isFinite) {
    misuse("'all' requires weights of 0 or more, not all of them 0, not \(weights).")
  }
  return weights
}

/// How much is done of several parts, of which some count more than others.
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

  /// - Parameter fraction: How much of the part is done; less than 0 or more than 1 will not do.
  /// - Returns: How much of the whole is done, if that has changed.
  mutating func set(_ fraction: Double, of index: Int) -> Double? {
    let fraction = fraction > 0 ? min(fraction, 1) : 0
    let old = fractions[index]
    if fraction == old { return nil }
    fractions[index] = fraction
    doneCount += (fraction == 1 ? 1 : 0) - (old == 1 ? 1 : 0)
    sum += weights[index] * (fraction - old)
    // Rounding must not leave something to do when all is done.
    return doneCount == weights.count ? 1 : min(sum / total, 1)
  }
}

/// The weights that `all` was given, or 1 for each.
func checkedWeights(_ weights: [Double]?, count: Int) -> [Double] {
  let weights = weights ?? [Double](repeating: 1, count: count)
  if weights.count != count {
    misuse("'all' takes a weight for each of its \(count) tasks, not \(weights.count) weights.")
  }
  let sum = weights.reduce(0, +)
  if count > 0, !(weights.allSatisfy { $0 >= 0 } && sum > 0 && sum.isFinite) {
    misuse("'all' takes weights of 0 or more, not all of them 0, not \(weights).")
  }
  return weights
}

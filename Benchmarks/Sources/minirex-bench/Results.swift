/// The cost per unit of a contestant in one workload.
struct Measurement {
  let min: Double
  let median: Double
  var pairsPerSecond: Double?

  init(_ samples: [Double], pairsPerSecond: [Double] = []) {
    let sorted = samples.sorted()
    min = sorted[0]
    median = sorted[sorted.count / 2]
    let pairs = pairsPerSecond.sorted()
    self.pairsPerSecond = pairs.isEmpty ? nil : pairs[pairs.count / 2]
  }
}

struct WorkloadResult {
  let name: String
  let unit: String
  /// The measurements by contestant, in registration order.
  let contestants: [(name: String, measurement: Measurement)]

  subscript(contestant: String) -> Measurement? {
    contestants.first { $0.name == contestant }?.measurement
  }
}

/// The outcome of a goal.
struct Verdict {
  let goal: Goal
  /// The ratio, or the number of bytes for a goal in bytes.
  let ratio: Double
  let pairsPerSecond: Double?

  var isMet: Bool {
    ratio <= goal.limit && (pairsPerSecond ?? .infinity) >= (goal.atLeastPairsPerSecond ?? 0)
  }
}

extension [WorkloadResult] {
  func verdict(on goal: Goal) -> Verdict? {
    guard let mine = self[goal.workload]?["minirex"] else { return nil }
    if goal.reference == bytes { return Verdict(goal: goal, ratio: mine.min, pairsPerSecond: nil) }
    guard let other = self[goal.otherWorkload ?? goal.workload]?[goal.reference]
    else { return nil }
    let ratio = goal.comparesMedians ? mine.median / other.median : mine.min / other.min
    return Verdict(goal: goal, ratio: ratio, pairsPerSecond: mine.pairsPerSecond)
  }

  subscript(name: String) -> WorkloadResult? {
    first { $0.name == name }
  }
}

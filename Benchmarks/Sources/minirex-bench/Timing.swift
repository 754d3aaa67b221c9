import CBench

/// Measures the contestants of one workload in alternation, with the number of repetitions from the
/// options.
func measure(_ workload: Workload, of suite: Suite, _ options: Options) -> WorkloadResult? {
  if let weights = suite.weights[workload.name] { return weigh(weights, workload, options) }
  var runs = suite.cases.filter { $0.workload == workload.name }.map {
    Calibrated($0, nanoseconds: options.nanoseconds(for: workload.name))
  }
  if runs.isEmpty { return nil }
  suite.pairsPerSecond = [:]
  for rep in 0..<options.reps {
    for i in runs.indices { runs[(i + rep) % runs.count].sample() }
  }
  return WorkloadResult(
    name: workload.name, unit: workload.unit,
    contestants: runs.map {
      let pairs = suite.pairsPerSecond[$0.contestant] ?? []
      return ($0.contestant, Measurement($0.samples, pairsPerSecond: pairs))
    })
}

/// A contestant with the number of operations for a measurable repetition.
private struct Calibrated {
  let contestant: String
  private let isAlone: Bool
  private let units: Double
  private let run: Run
  private var operations = 1
  private(set) var samples: [Double] = []

  init(_ benchmark: Case, nanoseconds target: Double) {
    contestant = benchmark.contestant
    isAlone = !threadsMeet(in: benchmark.workload)
    units = benchmark.units
    run = benchmark.make()
    run(1)
    var time = nanoseconds()
    while time < target / 2, operations < 1 << 26 {
      operations *= time < target / 40 ? 8 : 2
      time = nanoseconds()
    }
    operations = max(1, min(1 << 26, Int(Double(operations) * target / time)))
  }

  /// Measures one repetition, after one operation that warms the caches.
  mutating func sample() {
    if isAlone { run(1) }
    samples.append(nanoseconds() / Double(operations) / units)
  }

  private func nanoseconds() -> Double {
    Stopwatch.shared.start()
    run(operations)
    Stopwatch.shared.stop()
    return Stopwatch.shared.nanoseconds
  }
}

/// Measures heap bytes per object, in a few repetitions because they hardly differ.
private func weigh(
  _ weights: [String: (count: Int, prepare: (Int) -> () -> AnyObject)], _ workload: Workload,
  _ options: Options
) -> WorkloadResult {
  var samples: [String: [Double]] = [:]
  let weights = weights.sorted { $0.key == "minirex" || $1.key != "minirex" && $0.key < $1.key }
  for _ in 0..<min(options.reps, 3) {
    for (name, (count, prepare)) in weights {
      withExtendedLifetime(prepare(1000)()) {}
      let make = prepare(count)
      cb_trim()
      let before = cb_heap_in_use()
      let kept = make()
      let bytes = Double(cb_heap_in_use() - before)
      samples[name, default: []].append(bytes / Double(count))
      withExtendedLifetime((make, kept)) {}
    }
  }
  return WorkloadResult(
    name: workload.name, unit: workload.unit,
    contestants: weights.map { ($0.key, Measurement(samples[$0.key] ?? [])) })
}

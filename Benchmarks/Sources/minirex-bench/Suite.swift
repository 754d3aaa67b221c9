/// Does so many operations.
typealias Run = (Int) -> Void

/// One contestant in one workload.
struct Case {
  let workload: String
  let contestant: String
  /// How many units, deliveries or pairs, an operation has.
  let units: Double
  let make: () -> Run
}

/// One contestant in the workload that weighs memory; what `make` returns is kept while it is weighed.
struct MemoryCase {
  let contestant: String
  let make: (Int) -> AnyObject
}

/// All the workloads there are, in the order in which they are shown.
final class Suite {
  private(set) var cases: [Case] = []
  var memCases: [String: (Int) -> AnyObject] = [:]
  /// What `contended-churn` reaches beside its deliveries, by contestant; one per run.
  var pairsPerSecond: [String: [Double]] = [:]

  init() {
    registerBare()
    fanout()
    values()
    chains()
    churn()
    contended()
    combining()
    async()
    tasks()
    memory()
    queues()
  }

  func bench(
    _ workload: String, _ contestant: String, units: Double = 1, _ make: @escaping () -> Run
  ) {
    cases.append(Case(workload: workload, contestant: contestant, units: units, make: make))
  }
}

let memoryWorkload = "memory-1000000"

/// Every workload by its name, in the order of the table, with the unit of its numbers.
let workloads: [(name: String, unit: String)] = [
  ("fanout-1", "ns per delivery"), ("fanout-10", "ns per delivery"),
  ("fanout-1000", "ns per delivery"), ("fanout-100000", "ns per delivery"),
  ("value-1", "ns per set"), ("value-10", "ns per set"), ("value-distinct", "ns per set"),
  ("chain-3", "ns per update"), ("chain-10", "ns per update"),
  ("churn-0", "ns per pair"), ("churn-1000", "ns per pair"), ("churn-100000", "ns per pair"),
  ("churn-oldest-100000", "ns per pair"), ("churn-random-100000", "ns per pair"),
  ("contended-2", "ns per delivery"), ("contended-churn", "ns per delivery"),
  ("combineLatest-2", "ns per update"), ("combineLatest-8", "ns per update"),
  ("merge-8", "ns per update"),
  ("async-burst", "ns per update"), ("async-pingpong", "ns per round trip"),
  ("task", "ns per task"), (memoryWorkload, "bytes per subscription"),
  ("notification-10", "ns per post"), ("receive-on-queue", "ns per update"),
]

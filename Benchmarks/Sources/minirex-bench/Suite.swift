/// Performs the given number of operations.
typealias Run = (Int) -> Void

/// One contestant in one workload.
struct Case {
  let workload: String
  let contestant: String
  /// The number of units per operation, such as deliveries or pairs.
  let units: Double
  let make: () -> Run
}

/// All workloads, in the order of the table.
final class Suite {
  private(set) var cases: [Case] = []
  /// The factories of weighed objects, with their counts, by workload and contestant.
  ///
  /// The returned object is retained while the heap is measured.
  private(set) var weights: [String: [String: (count: Int, prepare: (Int) -> () -> AnyObject)]] =
    [:]
  /// The additional rate of `contended-churn` in each run, by contestant.
  var pairsPerSecond: [String: [Double]] = [:]

  init() {
    fanout()
    values()
    chains()
    churn()
    contended()
    combining()
    async()
    flow()
    tasks()
    memory()
    queues()
    hops()
    outside()
    notifications()
    stores()
    effects()
    diffs()
    journals()
    jobs()
    storeMemory()
    rows()
    queries()
    parts()
    computing()
    layers()
    registerBare()
    registerBareComputing()
  }

  func bench(
    _ workload: String, _ contestant: String, units: Double = 1, _ make: @escaping () -> Run
  ) {
    cases.append(Case(workload: workload, contestant: contestant, units: units, make: make))
  }

  func weigh(
    _ workload: String, _ contestant: String, count: Int = 1_000_000,
    _ make: @escaping (Int) -> AnyObject
  ) {
    weighAlone(workload, contestant, count: count) { n in { make(n) } }
  }

  /// Weighs objects without the heap of their setup.
  func weighAlone(
    _ workload: String, _ contestant: String, count: Int,
    after prepare: @escaping (Int) -> () -> AnyObject
  ) {
    weights[workload, default: [:]][contestant] = (count, prepare)
  }
}

let memoryWorkload = "memory-1000000"

struct Workload {
  let name: String
  let unit: String

  init(_ name: String, _ unit: String) {
    self.name = name
    self.unit = unit
  }
}

/// All workloads, in the order of the table.
let workloads = [
  Workload("fanout-1", "ns per delivery"),
  Workload("fanout-10", "ns per delivery"),
  Workload("fanout-1000", "ns per delivery"),
  Workload("fanout-100000", "ns per delivery"),
  Workload("value-1", "ns per set"),
  Workload("value-10", "ns per set"),
  Workload("value-distinct", "ns per set"),
  Workload("chain-3", "ns per update"),
  Workload("chain-10", "ns per update"),
  Workload("churn-0", "ns per pair"),
  Workload("churn-1000", "ns per pair"),
  Workload("churn-100000", "ns per pair"),
  Workload("churn-oldest-100000", "ns per pair"),
  Workload("churn-random-100000", "ns per pair"),
  Workload("contended-2", "ns per delivery"),
  Workload("contended-churn", "ns per delivery"),
  Workload("combineLatest-2", "ns per update"),
  Workload("combineLatest-8", "ns per update"),
  Workload("merge-8", "ns per update"),
  Workload("computed-read", "ns per read"),
  Workload("computed-set", "ns per set"),
  Workload("computed-diamond", "ns per set"),
  Workload("computed-deep", "ns per set"),
  Workload("computed-wide", "ns per set"),
  Workload("computed-dense", "ns per change"),
  Workload("computed-dynamic", "ns per change"),
  Workload("async-burst", "ns per update"),
  Workload("async-pingpong", "ns per round trip"),
  Workload("flow-send", "ns per send"),
  Workload("flow-suspending-1", "ns per update"),
  Workload("flow-suspending-64", "ns per update"),
  Workload("flow-suspending-1024", "ns per update"),
  Workload("flow-loops-10", "ns per delivery"),
  Workload("flow-loops-100", "ns per delivery"),
  Workload("flow-loops-1000", "ns per delivery"),
  Workload("task", "ns per task"),
  Workload("subscribe-finished", "ns per subscription"),
  Workload("drain-finished", "ns per drain"),
  Workload("delivered", "ns per call"),
  Workload("resource-value", "ns per call"),
  Workload(memoryWorkload, "bytes per subscription"),
  Workload("notification-10", "ns per post"),
  Workload("receive-on-queue", "ns per update"),
  Workload("hop-actor", "ns per update"),
  Workload("hop-main", "ns per update"),
  Workload("process-lines", "ns per line"),
  Workload("download", "ns per kilobyte"),
  Workload("modify-0", "ns per change"),
  Workload("store-send-0", "ns per action"),
  Workload("store-send-1", "ns per action"),
  Workload("store-send-10", "ns per action"),
  Workload("store-receipt", "ns per action"),
  Workload("store-decide", "ns per action"),
  Workload("store-commit-0", "ns per commit"),
  Workload("store-contended-2", "ns per action"),
  Workload("store-append", "ns per action"),
  Workload("store-append-empty", "ns per action"),
  Workload("rows-1", "ns per change"),
  Workload("rows-1000", "ns per change"),
  Workload("rows-100000", "ns per change"),
  Workload("rows-any-100000", "ns per change"),
  Workload("rows-idle", "ns per action"),
  Workload("query-row-1000", "ns per change"),
  Workload("query-update-1000", "ns per change"),
  Workload("query-move-1000", "ns per change"),
  Workload("query-toggle-1000", "ns per change"),
  Workload("query-row-100000", "ns per change"),
  Workload("query-update-100000", "ns per change"),
  Workload("query-move-100000", "ns per change"),
  Workload("query-toggle-100000", "ns per change"),
  Workload("store-parts-20", "ns per commit"),
  Workload("store-scope", "ns per look"),
  Workload("store-scope-made", "ns per scope"),
  Workload("effect-run", "ns per effect"),
  Workload("effect-chain", "ns per action"),
  Workload("diff-100", "ns per commit"),
  Workload("job-change", "ns per change"),
  Workload("job-perform", "ns per job"),
  Workload("journal", "ns per action"),
  Workload("replay", "ns per action"),
  Workload("store-memory", "bytes per store"),
  Workload("scope-memory", "bytes per scope"),
  Workload("row-memory", "bytes per row"),
  Workload("query-memory", "bytes per row"),
]

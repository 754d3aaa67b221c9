/// The maximum of a ratio, or of a number of bytes.
struct Goal {
  let workload: String
  /// The divisor: a contestant of the same workload or of `otherWorkload`, or `bytes` for an
  /// absolute number.
  let reference: String
  let limit: Double
  var otherWorkload: String?
  var atLeastPairsPerSecond: Double?

  /// Medians are also compared with Swift tasks, because a task runs on another thread.
  var comparesMedians: Bool {
    threadsMeet(in: workload) || reference == "Task"
  }
}

let bytes = "bytes"

/// Returns `true` for workloads with contention, where the minimum is luck and medians are
/// compared.
func threadsMeet(in workload: String) -> Bool {
  let prefixes = [
    "contended", "senders", "async", "flow-suspending", "flow-loops", "receive-on-queue", "hop",
    "process", "download",
    "store-contended",
  ]
  return prefixes.contains { workload.hasPrefix($0) }
}

let goals: [Goal] = [
  Goal(workload: "flow-send", reference: "broadcast", limit: 4),
  Goal(workload: "fanout-1", reference: "bare", limit: 0.45),
  Goal(workload: "fanout-10", reference: "bare", limit: 0.25),
  Goal(workload: "fanout-1000", reference: "bare", limit: 0.25),
  Goal(workload: "fanout-100000", reference: "bare", limit: 0.25),
  Goal(workload: "value-1", reference: "bare", limit: 0.45),
  Goal(workload: "value-10", reference: "bare", limit: 0.22),
  Goal(workload: "value-distinct", reference: "bare", limit: 0.6),
  Goal(workload: "chain-3", reference: "bare", limit: 0.55),
  Goal(workload: "chain-10", reference: "bare", limit: 0.9),
  Goal(workload: "churn-0", reference: "bare", limit: 1.1),
  Goal(workload: "churn-1000", reference: "bare", limit: 1.1),
  Goal(workload: "churn-100000", reference: "bare", limit: 1.1),
  Goal(
    workload: "churn-oldest-100000", reference: "minirex", limit: 6, otherWorkload: "churn-0"),
  Goal(
    workload: "churn-random-100000", reference: "minirex", limit: 6, otherWorkload: "churn-0"),
  Goal(workload: "contended-2", reference: "bare", limit: 0.35),
  Goal(
    workload: "contended-churn", reference: "bare", limit: 1, atLeastPairsPerSecond: 300_000),
  Goal(workload: "combineLatest-2", reference: "bare", limit: 0.5),
  Goal(workload: "combineLatest-8", reference: "bare", limit: 0.6),
  Goal(workload: "merge-8", reference: "bare", limit: 0.8),
  Goal(workload: "async-burst", reference: "AsyncStream", limit: 0.04),
  Goal(workload: "async-pingpong", reference: "AsyncStream", limit: 1.1),
  Goal(workload: "task", reference: "bare", limit: 3.5),
  Goal(workload: "task", reference: "Task", limit: 0.25),
  Goal(workload: memoryWorkload, reference: "bare", limit: 0.8),
  Goal(workload: "notification-10", reference: "NotificationCenter", limit: 0.4),
  Goal(workload: "receive-on-queue", reference: "bare", limit: 1.3),
  Goal(workload: "hop-actor", reference: "bare", limit: 1.3),
  Goal(workload: "hop-main", reference: "bare", limit: 1.3),
  Goal(workload: "process-lines", reference: "Process", limit: 1.3),
  Goal(workload: "download", reference: "URLSession", limit: 1.3),
  Goal(workload: "store-send-0", reference: "Mutex", limit: 2.5),
  Goal(workload: "store-send-1", reference: "Mutex", limit: 1.4),
  Goal(workload: "store-send-10", reference: "Mutex", limit: 1.1),
  Goal(
    workload: "store-receipt", reference: "minirex", limit: 1.25, otherWorkload: "store-send-0"),
  Goal(workload: "store-commit-0", reference: "Mutex", limit: 2.5),
  Goal(workload: "store-contended-2", reference: "Mutex", limit: 2),
  Goal(
    workload: "store-append", reference: "minirex", limit: 1.5,
    otherWorkload: "store-append-empty"),
  Goal(workload: "rows-1000", reference: "minirex", limit: 1.5, otherWorkload: "rows-1"),
  Goal(workload: "rows-1000", reference: "publisher(of:)", limit: 0.05),
  Goal(workload: "rows-100000", reference: "minirex", limit: 1.5, otherWorkload: "rows-1"),
  Goal(workload: "rows-idle", reference: "minirex", limit: 1.1, otherWorkload: "store-send-1"),
  Goal(workload: "query-row-100000", reference: "minirex", limit: 2, otherWorkload: "rows-1"),
  Goal(
    workload: "query-update-100000", reference: "minirex", limit: 2,
    otherWorkload: "rows-any-100000"),
  Goal(workload: "query-move-100000", reference: "publisher(of:)", limit: 0.01),
  Goal(workload: "store-parts-20", reference: "Mutex", limit: 1),
  Goal(workload: "store-scope", reference: "Dictionary", limit: 2),
  Goal(workload: "store-scope-made", reference: "Dictionary", limit: 6),
  Goal(workload: "effect-run", reference: "Task", limit: 1.6),
  Goal(
    workload: "effect-chain", reference: "minirex", limit: 1.2, otherWorkload: "store-send-0"),
  Goal(workload: "diff-100", reference: "JSONEncoder", limit: 0.8),
  Goal(workload: "journal", reference: "write", limit: 1.5),
  Goal(workload: "replay", reference: "JSONDecoder", limit: 1.3),
  Goal(workload: "store-memory", reference: bytes, limit: 700),
  Goal(workload: "scope-memory", reference: bytes, limit: 200),
  Goal(workload: "row-memory", reference: bytes, limit: 560),
  Goal(workload: "query-memory", reference: bytes, limit: 192),
]

/// The maximum numbers of allocations, retains, and releases per unit.
struct CountGoal {
  let allocations: Double
  let retains: Double?
  let releases: Double?
}

func countGoal(of workload: String) -> CountGoal? {
  switch workload {
  case _ where workload.hasPrefix("fanout") || workload.hasPrefix("value"),
    _ where workload.hasPrefix("chain"),
    "store-send-0", "store-commit-0", "store-send-1", "store-send-10", "store-receipt",
    "store-decide", "modify-0", "store-parts-20":
    CountGoal(allocations: 0, retains: 0, releases: 0)
  case _ where workload.hasPrefix("churn"):
    CountGoal(allocations: 2, retains: nil, releases: nil)
  case "task":
    CountGoal(allocations: 5, retains: nil, releases: nil)
  case "rows-1", "rows-1000", "rows-100000", "rows-any-100000":
    CountGoal(allocations: 4, retains: nil, releases: nil)
  case "rows-idle", "store-scope":
    CountGoal(allocations: 0, retains: nil, releases: nil)
  case "store-scope-made":
    CountGoal(allocations: 9, retains: nil, releases: nil)
  case "drain-finished":
    CountGoal(allocations: 1, retains: nil, releases: nil)
  case "delivered", "flow-send", "resource-value":
    CountGoal(allocations: 0, retains: nil, releases: nil)
  default:
    nil
  }
}

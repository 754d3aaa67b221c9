import CBench
import Foundation

/// The allocations, retains, and releases of a unit.
///
/// The difference of two runs of different length removes the cost of the setup.
struct Counts {
  let allocations: Double
  let retains: Double
  let releases: Double

  init(_ benchmark: Case) {
    let run = benchmark.make()
    let short = benchmark.units >= 1000 ? 5 : 10_000
    run(short)
    let start = cb_read_counts()
    run(short)
    let middle = cb_read_counts()
    run(short * 2)
    let end = cb_read_counts()
    func perUnit(_ count: (cb_counts) -> UInt64) -> Double {
      let more = Double(count(end) - count(middle)) - Double(count(middle) - count(start))
      return more / Double(short) / benchmark.units
    }
    allocations = perUnit(\.mallocs)
    retains = perUnit(\.retains)
    releases = perUnit(\.releases)
  }

  /// Returns a description of each count that exceeds the goal.
  ///
  /// Growing tables cause a fraction of an allocation, which is ignored.
  func misses(of goal: CountGoal) -> [String] {
    let all: [(String, Double, Double?)] = [
      ("allocations", allocations, goal.allocations), ("retains", retains, goal.retains),
      ("releases", releases, goal.releases),
    ]
    return all.compactMap { name, count, limit in
      guard let limit, count > limit + 0.01 else { return nil }
      return "\(number(count)) \(name), goal \(number(limit))"
    }
  }
}

/// Returns the locked instructions per unit, or `nil` if the system does not allow the count or it
/// would take minutes.
///
/// It starts this program again and steps through it.
private func lockedInstructions(_ benchmark: Case) -> Double? {
  // The units of these workloads have more than the two million steps at which the count ends.
  let areTooLong = ["diff-100", "job-perform", "replay"].contains(benchmark.workload)
  if benchmark.units > 1_000 || areTooLong { return nil }
  // Each of eight inputs must be set, each time to another value.
  let operations = benchmark.workload.hasSuffix("-8") ? 16 : benchmark.units > 10 ? 2 : 4
  let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  let words = [
    path, "--once", benchmark.workload, "--contestant", benchmark.contestant, "--units",
    "\(operations)", "--marks",
  ]
  var arguments = words.map { strdup($0) } + [nil]
  defer { for argument in arguments { free(argument) } }
  var counts: [UInt64] = [0, 0]
  guard cb_locked_instructions(&arguments, &counts) else { return nil }
  return (Double(counts[1]) - Double(counts[0])) / Double(operations) / benchmark.units
}

/// Returns `true` if a unit is so large that counting it takes minutes.
private func takesMinutes(_ workload: String) -> Bool {
  ["computed-deep", "computed-wide", "computed-dense", "computed-dynamic"].contains(workload)
    || workload.hasPrefix("query-")
}

/// Prints the counts of `minirex` and `bare` for workloads on one thread, and returns `false` if a
/// goal is missed.
func showCounts(_ suite: Suite, _ options: Options) -> Bool {
  guard cb_have_counts() else { return restartCounting() }
  guard countsAnObject() else {
    complain("The counting library missed the allocation and the release of an object.")
    return false
  }
  print("per unit".padded(to: 40) + "allocations     retains    releases      locked")
  var misses: [String] = []
  for name in workloads.map(\.name)
  where options.selects(name) && !threadsMeet(in: name) && !takesMinutes(name) {
    for benchmark in suite.cases
    where benchmark.workload == name && ["minirex", "bare"].contains(benchmark.contestant) {
      let counts = Counts(benchmark)
      let columns = [counts.allocations, counts.retains, counts.releases]
      print(
        "\(name) \(benchmark.contestant)".padded(to: 39)
          + columns.map { number($0).aligned(to: 12) }.joined()
          + (lockedInstructions(benchmark).map(number) ?? "–").aligned(to: 12))
      if benchmark.contestant == "minirex", let goal = countGoal(of: name) {
        misses += counts.misses(of: goal).map { "\(name): \($0)." }
      }
    }
  }
  fflush(nil)
  for miss in misses { complain(miss) }
  return misses.isEmpty
}

/// Returns `true` if the library counts the allocation and the release of an object.
private func countsAnObject() -> Bool {
  let before = cb_read_counts()
  let object = opaque(Holder([0]))
  Unmanaged.passRetained(object).release()
  let after = cb_read_counts()
  return after.mallocs > before.mallocs && after.retains > before.retains
    && after.releases > before.releases
}

/// Starts this program again with the counting library preloaded.
private func restartCounting() -> Bool {
  #if os(Linux)
  let program = "/proc/self/exe"
  let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: program)) ?? ""
  let library = URL(filePath: path).deletingLastPathComponent()
    .appending(path: "libCounting.so").path
  guard FileManager.default.fileExists(atPath: library) else {
    complain(
      "--count requires libCounting.so in the folder of the program. Build both with "
        + "'swift build -c release --package-path Benchmarks'.")
    return false
  }
  setenv("LD_PRELOAD", library, 1)
  var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
  execv(path, &arguments)
  complain("\(path) cannot be restarted.")
  #else
  complain("--count requires Linux, because it replaces functions of the C library.")
  #endif
  return false
}

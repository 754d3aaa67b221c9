import CBench
import Foundation

/// Runs the mode that the options select.
///
/// - Returns: `true` if every required goal is met.
func run(_ options: Options) -> Bool {
  let suite = Suite()
  if options.list { return list(suite) }
  if let workload = options.once { return runOnce(workload, suite, options) }
  if options.replays { return showReplays() }
  if options.journals { return showJournals(options) }
  if options.commits != nil { return commit(options) }
  if options.company { return showCompany(options) }
  if options.count { return showCounts(suite, options) }
  return showTimes(suite, options)
}

func complain(_ message: String) {
  FileHandle.standardError.write(Data("minirex-bench: \(message)\n".utf8))
}

private func list(_ suite: Suite) -> Bool {
  for workload in workloads {
    let timed = suite.cases.filter { $0.workload == workload.name }.map(\.contestant)
    let names = suite.weights[workload.name]?.keys.sorted() ?? timed
    print(workload.name.padded(to: 20), workload.unit.padded(to: 24), names.joined(separator: ", "))
  }
  for workload in companyWorkloads {
    print(
      workload.name.padded(to: 20), "ns of processor time".padded(to: 24), "minirex, with --company"
    )
  }
  return true
}

private func runOnce(_ workload: String, _ suite: Suite, _ options: Options) -> Bool {
  let found = suite.cases.first {
    $0.workload == workload && $0.contestant == options.contestant
  }
  guard let found else {
    complain("'\(workload)' has no contestant '\(options.contestant)'. Use --list.")
    return false
  }
  let run = found.make()
  run(100)
  if options.marks {
    for operations in [options.units, 2 * options.units] {
      cb_mark()
      run(operations)
    }
    cb_mark()
    return true
  }
  run(options.units)
  print(found.units)
  return true
}

private func showTimes(_ suite: Suite, _ options: Options) -> Bool {
  let wanted = Set(
    goals.filter { options.selects($0.workload) }.compactMap(\.otherWorkload)
      + workloads.map(\.name).filter(options.selects))
  var results: [WorkloadResult] = []
  for workload in workloads where wanted.contains(workload.name) {
    if let result = measure(workload, of: suite, options) {
      results.append(result)
      if !options.json { showTable(of: result, among: results) }
    }
  }
  print(options.json ? json(of: results) : summary(of: results))
  if let folder = options.plots { return draw(into: folder, suite, results, options) }
  return true
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - count))
  }

  func aligned(to width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - count)) + self
  }
}

import Foundation

/// Prints the minimum and the median of each contestant of one workload, and the outcome of its
/// goals.
func showTable(of result: WorkloadResult, among results: [WorkloadResult]) {
  print("\(result.name), \(result.unit)")
  for (name, measurement) in result.contestants {
    var line = "  \(name.padded(to: 20))"
    line += number(measurement.min).aligned(to: 10) + number(measurement.median).aligned(to: 10)
    if let bare = result["bare"], name != "bare" {
      line += "   \(ratio(measurement.min / bare.min)) of bare"
    }
    if let pairs = measurement.pairsPerSecond {
      line += "   \(Int(pairs)) pairs per second"
    }
    print(line)
  }
  for goal in goals where goal.workload == result.name {
    if let verdict = results.verdict(on: goal) { print("  \(line(of: verdict))") }
  }
  fflush(nil)
}

/// Returns the number of goals that are met, and the names of the missed goals.
func summary(of results: [WorkloadResult]) -> String {
  let verdicts = goals.filter { results[$0.workload] != nil }.compactMap(results.verdict)
  let missed = verdicts.filter { !$0.isMet }.map(\.goal.workload)
  let met = "\(verdicts.count - missed.count) of \(verdicts.count) goals are met"
  return missed.isEmpty ? "\(met)." : "\(met). Missed: \(missed.joined(separator: ", "))."
}

private func line(of verdict: Verdict) -> String {
  let goal = verdict.goal
  var line = verdict.isMet ? "pass" : "MISS"
  if goal.reference == bytes {
    return line + "  \(number(verdict.ratio)) bytes, goal \(number(goal.limit))"
  }
  line += "  \(ratio(verdict.ratio)) of \(goal.reference)"
  if let other = goal.otherWorkload { line += " in \(other)" }
  line += goal.comparesMedians ? " (medians)" : " (minima)"
  line += ", goal \(goal.limit)"
  if let pairs = goal.atLeastPairsPerSecond { line += " and \(Int(pairs)) pairs per second" }
  return line
}

func number(_ value: Double) -> String {
  String(format: value < 100 ? "%.2f" : "%.0f", value)
}

private func ratio(_ value: Double) -> String {
  String(format: value < 0.1 ? "%.3f" : "%.2f", value)
}

import Foundation

/// Returns one object with all results, in which each contestant has a key.
func json(of results: [WorkloadResult]) -> String {
  let workloads = results.map { result in
    let contestants = result.contestants.map { name, measurement in
      var fields =
        "\"min\": \(decimal(measurement.min)), \"median\": \(decimal(measurement.median))"
      if let pairs = measurement.pairsPerSecond {
        fields += ", \"pairsPerSecond\": \(Int(pairs))"
      }
      return "\(quoted(name)): {\(fields)}"
    }
    let head = ["\"name\": \(quoted(result.name))", "\"unit\": \(quoted(result.unit))"]
    return "    {\((head + contestants).joined(separator: ", "))}"
  }
  return """
    {"machine": \(quoted(machine())), "workloads": [
    \(workloads.joined(separator: ",\n"))
    ]}
    """
}

private func decimal(_ value: Double) -> String {
  String(format: "%.3f", value)
}

private func quoted(_ text: String) -> String {
  "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
}

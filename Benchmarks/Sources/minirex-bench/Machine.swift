import Foundation

/// Returns the processor, the number of cores, and the operating system.
func machine() -> String {
  let process = ProcessInfo.processInfo
  let system = process.operatingSystemVersionString
  return "\(processor()), \(process.activeProcessorCount) cores, \(system)"
}

private func processor() -> String {
  let facts = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
  let model = facts.split(separator: "\n").first { $0.hasPrefix("model name") }
  let name = model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  return name ?? "unknown processor"
}

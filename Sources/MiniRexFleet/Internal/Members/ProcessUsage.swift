#if NATS
internal import Foundation

/// The memory and the processor time of this process.
struct ProcessUsage: Sendable {
  /// The resident memory in bytes.
  let memory: Int
  /// The processor time since the start of the process.
  let processorTime: Duration

  static var current: ProcessUsage {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    // The second number is the count of resident pages.
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))
      .flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) }
    return ProcessUsage(
      memory: (pages ?? 0) * Int(getpagesize()),
      processorTime: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
  }

  /// The name of the machine, without a lookup.
  static let host: String = {
    let name = try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
    return name?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
  }()
}
#endif

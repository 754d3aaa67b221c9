import Foundation

/// Waits for something that no callback tells, such as the end of a process or of a thread.
///
/// It gives up when the time limit of the suite has passed, which is a failure.
package func until(_ isTrue: () -> Bool) async {
  while !isTrue(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}

/// Waits on a thread that may be held, and not in the pool of Swift tasks.
package func onQueue(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test").async {
      body()
      continuation.resume()
    }
  }
}

extension DispatchSemaphore {
  /// Returns when it was signalled so often, or when the time limit of the suite has passed.
  package func isSignalled(_ count: Int = 1) async {
    for _ in 0..<count { await until { wait(timeout: .now()) == .success } }
  }

  /// Holds a thread, which a test that has failed would not let go.
  package func waitAtMost() {
    _ = wait(timeout: .now() + 600)
  }
}

/// How many files, pipes and sockets this process has open.
///
/// What has no name, such as the clock of a timer, is opened by the platform when it is first used.
package func openDescriptors() -> Int {
  #if canImport(Darwin)
    let folder = "/dev/fd"
  #else
    let folder = "/proc/self/fd"
  #endif
  let files = FileManager.default
  let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
  return names.count { name in
    let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
    return target?.hasPrefix("anon_inode:") != true
  }
}

/// The most memory that this process has had, in bytes.
package func peakMemory() -> Int? {
  #if canImport(Darwin)
    var usage = rusage()
    return unsafe getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : nil
  #else
    // `getrusage` counts that of the process which has started this one, too.
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  #endif
}

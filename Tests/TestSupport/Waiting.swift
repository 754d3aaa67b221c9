import Foundation

/// Polls a condition that no callback reports, such as the end of a process or a thread.
///
/// Returns when the time limit of the suite cancels the test.
package func until(_ isTrue: () -> Bool) async {
  while !isTrue(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
}

/// Runs a blocking body outside the thread pool of Swift tasks.
package func onQueue(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test").async {
      body()
      continuation.resume()
    }
  }
}

extension DispatchSemaphore {
  /// Waits for a number of signals, or for the time limit of the suite.
  package func isSignalled(_ count: Int = 1) async {
    for _ in 0..<count { await until { wait(timeout: .now()) == .success } }
  }

  /// Blocks the thread for up to 10 minutes.
  package func waitAtMost() {
    _ = wait(timeout: .now() + 600)
  }
}

/// Returns the number of open files, pipes, and sockets of this process.
///
/// Anonymous descriptors are not counted, because the platform opens them on first use.
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

/// Returns the peak memory of this process in bytes.
package func peakMemory() -> Int? {
  #if canImport(Darwin)
  var usage = rusage()
  return unsafe getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : nil
  #else
  // `getrusage` includes the memory of the parent process.
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  #endif
}

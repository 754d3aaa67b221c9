import Foundation

/// Waits for something that no callback tells, such as the end of a process or of a thread.
///
/// A hang ends with the time limit of whoever runs the tests.
func until(_ isTrue: () -> Bool) async {
  while !isTrue() { try? await Task.sleep(for: .milliseconds(1)) }
}

/// Waits on a thread that may be held, and not in the pool of Swift tasks.
func onQueue(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test").async {
      body()
      continuation.resume()
    }
  }
}

/// How many files, pipes and sockets this process has open.
func openDescriptors() -> Int {
  #if canImport(Darwin)
    let folder = "/dev/fd"
  #else
    let folder = "/proc/self/fd"
  #endif
  return (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
}

#if NATS
import Foundation
import TestSupport
import Testing

extension Trait where Self == ServerSlots {
  /// The tests start servers, so only some of them run concurrently.
  static var usesServers: Self { ServerSlots() }
}

/// Admits as many tests with servers as the machine has processors, over all test processes.
///
/// A test has a slot while a file is locked, which ends with its process. Waiting counts toward the time limit, which
/// is therefore long.
struct ServerSlots: SuiteTrait, TestTrait, TestScoping {
  private static let count = max(2, ProcessInfo.processInfo.activeProcessorCount)

  var isRecursive: Bool { true }

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let slot = await Self.take()
    defer { close(slot) }
    try await function()
  }

  /// Returns the descriptor of a locked file.
  private static func take() async -> Int32 {
    while true {
      for number in 0..<count {
        let path = FileManager.default.temporaryDirectory
          .appending(path: "minirex-server-slot-\(getuid())-\(number)").path
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        close(descriptor)
      }
      // After a cancellation, it does not wait.
      if Task.isCancelled { return -1 }
      try? await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// Ends this process when its parent has ended, so that a killed `swift test` leaves no servers behind.
enum ParentWatch {
  static let isRunning: Bool = {
    let parent = getppid()
    Thread.detachNewThread {
      while getppid() == parent { sleep(1) }
      _exit(1)
    }
    return true
  }()
}
#endif

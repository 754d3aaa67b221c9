public import Dispatch
import MiniRexTesting
import Synchronization
public import Testing

/// The number of polls until a wait records an issue, which are ten seconds on a quiet machine.
///
/// On a busy machine, a poll counts less.
public let patience = 10_000

/// Polls a condition that no callback reports, such as the end of a process or a thread.
///
/// Records an issue at the call if the condition remains false.
public func until(
  patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation,
  _ isTrue: () -> Bool
) async {
  await poll(patience, sourceLocation, isTrue) { nil }
}

/// Polls an asynchronous condition.
public func until(
  patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation,
  _ isTrue: () async -> Bool
) async {
  await poll(patience, sourceLocation, isTrue) { nil }
}

/// Polls a value.
///
/// Records an issue with the last value at the call if none satisfies the condition.
public func until<Value>(
  _ value: @autoclosure () -> Value, patience: Int = patience,
  sourceLocation: SourceLocation = #_sourceLocation, _ isTrue: (Value) -> Bool
) async {
  await poll(patience, sourceLocation) {
    isTrue(value())
  } last: {
    "The last value is \(value())."
  }
}

/// Polls an asynchronous condition, and returns `false` if it remains false, without an issue.
///
/// Returns early if the task is canceled.
public func holds(patience: Int = patience, _ isTrue: () async -> Bool) async -> Bool {
  var (polls, number) = (0.0, 0)
  while polls < Double(patience) {
    if await isTrue() { return true }
    if Task.isCancelled { return false }
    try? await Task.sleep(for: .milliseconds(1))
    number += 1
    if number.isMultiple(of: 1_000) { measureCrowding() }
    polls += 1 / Double(limitFactor.load(ordering: .relaxed))
  }
  return await isTrue()
}

/// Returns early, without an issue, if the task is canceled.
func poll(
  _ patience: Int, _ place: SourceLocation, _ isTrue: () async -> Bool, last: () -> String?
) async {
  if await holds(patience: patience, isTrue) || Task.isCancelled { return }
  let parts = ["The condition is still false after \(patience) polls of a millisecond.", last()]
  Issue.record("\(parts.compactMap(\.self).joined(separator: " "))", sourceLocation: place)
}

/// Runs the body, and records an issue at the call if it continues after the patience.
///
/// - Parameter end: Ends the body after the issue.
package func patiently<Result>(
  _ text: String, patience: Int = patience, sourceLocation: SourceLocation,
  end: @escaping @Sendable () -> Void, _ body: () async throws -> Result
) async rethrows -> Result {
  let patience = Int(Double(patience) * waitScale)
  let deadline = Task {
    if await holds(patience: patience, { false }) || Task.isCancelled { return }
    Issue.record(
      "\(text) after \(patience) polls of a millisecond.", sourceLocation: sourceLocation)
    end()
  }
  defer { deadline.cancel() }
  return try await body()
}

extension Task {
  /// Waits for the result of a task of the test.
  ///
  /// Records an issue at the call if the task does not finish, and cancels the task.
  public func finished(
    patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws(Failure) -> Success {
    try await patiently(
      "The task is at work", patience: patience, sourceLocation: sourceLocation, end: cancel
    ) { await result }.get()
  }
}

/// Runs a blocking body outside the thread pool of Swift tasks.
public func onQueue(_ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test").async {
      body()
      continuation.resume()
    }
  }
}

extension DispatchSemaphore {
  /// Waits for a number of signals.
  public func isSignalled(
    _ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    for _ in 0..<count {
      await until(sourceLocation: sourceLocation) { wait(timeout: .now()) == .success }
    }
  }

  /// Blocks the thread until a signal, or until an issue.
  public func waitAtMost(sourceLocation: SourceLocation = #_sourceLocation) {
    block(sourceLocation, wait)
  }
}

/// The seconds after which a blocked thread is an issue.
///
/// They exceed the patience of one `until`, after which a test opens the way.
private let blockedSeconds = 12 * waitScale

/// Sanitizers and soaks take longer.
private let waitScale = scale == 1 ? 1 : max(6, scale)

/// Blocks the thread while `wait` times out, or until an issue.
func block(_ place: SourceLocation, _ wait: (DispatchTime) -> DispatchTimeoutResult) {
  var waits = 0.0
  while waits < blockedSeconds {
    if wait(.now() + 1) == .success { return }
    waits += 1 / Double(measureCrowding())
  }
  Issue.record("The thread was blocked for \(blockedSeconds) seconds.", sourceLocation: place)
}

public import MiniRexStore

/// Runs a test with a ``TestStore``, and throws if an assertion fails or is missing.
///
/// After `body` returns, effects that are about to finish may finish. An effect that keeps running, a
/// received action without an assertion, and an error of an effect that no `finished()` threw are failures.
/// A failure that `body` catches, as with `try?`, still fails the test.
///
/// Test frameworks show a thrown error at the beginning of the test. `onFailure` records each failure at the
/// failed call instead:
///
/// ```swift
/// @Sendable private func record(_ failure: TestStoreFailure) {
///   Issue.record(
///     failure,
///     sourceLocation: SourceLocation(
///       fileID: failure.fileID, filePath: "\(failure.filePath)", line: failure.line,
///       column: failure.column))
/// }
/// ```
///
/// In XCTest, the call is `XCTFail("\(failure)", file: failure.filePath, line: UInt(failure.line))`.
///
/// - Parameters:
///   - state: The first state.
///   - limit: The maximum real time of each wait. The default is 10 seconds. Only a failing test waits so
///     long.
///   - exhaustivity: The changes and actions that `body` must assert. The default is all.
///   - onFailure: A closure that records each failure, on the thread of the failed call. The failure still
///     ends `body`, and `withTestStore` then returns normally. The default is `nil`: `withTestStore` throws.
///   - fileID: The place of a failure after `body`. The default is the place of the call.
///   - filePath: The path of that file.
///   - line: The line in that file.
///   - column: The column in that line.
///   - reducer: The reducer under test.
///   - body: The test.
/// - Throws: A ``TestStoreFailure``, or the error of `body`.
nonisolated(nonsending) public func withTestStore<State: Sendable & Equatable, Action: Sendable>(
  _ state: State, within limit: Duration = .seconds(10),
  exhaustivity: TestStoreExhaustivity = .on,
  onFailure: (@Sendable (TestStoreFailure) -> Void)? = nil,
  fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
  column: Int = #column,
  reducer: @escaping Reducer<State, Action>,
  _ body: nonisolated(nonsending) (TestStore<State, Action>) async throws -> Void
) async throws {
  let place = CallPlace(fileID: fileID, filePath: filePath, line: line, column: column)
  let failures = FailureLog(onFailure)
  let store = TestStore(
    state, within: limit, exhaustivity: exhaustivity, failures: failures, reducer: reducer)
  do {
    try await body(store)
    try await store.finish(at: place)
  } catch {
    try failures.rethrow(error)
  }
  try failures.throwAll()
}

import Foundation
public import Testing

/// Admits as many tests at a time as the machine has cores, and begins the limit of each at its admission.
///
/// Swift Testing starts all tests together. Its own time limit would include the time in which a test waits for a
/// thread.
public struct Admission: TestTrait, SuiteTrait, TestScoping {
  private static let machine = Slots(ProcessInfo.processInfo.activeProcessorCount)
  @TaskLocal private static var isAdmitted = false
  private static let printsTimes = ProcessInfo.processInfo.environment["MINIREX_TIMES"] == "1"

  fileprivate let slots: Int
  fileprivate let limit: Duration

  /// `true`, because each test of a suite is admitted separately.
  public var isRecursive: Bool { true }

  /// Runs one case of a test after its admission, until its limit.
  @concurrent
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing body: @concurrent @Sendable () async throws -> Void
  ) async throws {
    // The trait of a test replaces the trait of its suite, which is the first.
    if Admission.isAdmitted { return try await body() }
    let own = test.traits.reduce(self) { $1 as? Admission ?? $0 }
    try await Admission.$isAdmitted.withValue(true) {
      try await Admission.machine.hold(own.slots) {
        let name = test.displayName ?? test.name
        let start = ContinuousClock.now
        try await limited(to: own.limit, name, at: test.sourceLocation, body)
        if Admission.printsTimes {
          print("own time: \(ContinuousClock.now - start), \(test.sourceLocation.fileID): \(name)")
        }
      }
    }
  }
}

extension Trait where Self == Admission {
  /// For tests that use one thread most of the time.
  public static var light: Self { Admission(slots: 1, limit: .seconds(120 * limitScale)) }

  /// For tests that use both cores, such as storms, soaks, and servers.
  ///
  /// Beside sixteen busy threads, a storm takes ten times as long as alone.
  public static var heavy: Self { heavy(minutes: 10) }

  /// For tests that take longer by design.
  public static func heavy(minutes: Int) -> Self {
    Admission(slots: 2, limit: .seconds(Double(60 * minutes) * limitScale))
  }
}

/// Soaks and chains of a million steps take longer.
private let limitScale = max(1, scale) * (allSteps == nil ? 1 : 5)

/// Throws if a publisher breaks a delivery rule.
///
/// ```swift
/// @Test func `striding keeps the laws`() async throws {
///   try await expectPublisherLaws {
///     let source = BroadcastSource<Int>()
///     return PublisherUnderTest(source.publisher.striding(by: 1), drivenBy: source)
///   }
/// }
/// ```
///
/// Runs scripts of increasing complexity: subscribers join and cancel, callbacks send, subscribe, and
/// cancel, and threads do all of this concurrently.
///
/// - Parameters:
///   - limit: The maximum wait for an update or a call. A call that takes longer is reported, and its
///     thread is abandoned. The default is 30 seconds.
///   - make: Creates a publisher and its driver. Called once for each script, and once before.
/// - Throws: A ``PublisherLawReport`` about the first broken rule.
public func expectPublisherLaws(
  within limit: Duration = .seconds(30), of make: @Sendable () -> PublisherUnderTest
) async throws {
  var trials: [(Script, Trial)] = []
  for script in Script.all(for: make()) {
    let trial = Trial(of: make(), within: limit)
    if let broken = try await trial.run(script) {
      throw PublisherLawReport(broken, script, trial)
    }
    trials.append((script, trial))
  }
  // Calls after the cancellation are found only after all scripts have run.
  for (script, trial) in trials {
    if let broken = trial.log.broken { throw PublisherLawReport(broken, script, trial) }
  }
}

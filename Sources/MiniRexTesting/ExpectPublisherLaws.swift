/// Throws unless a publisher keeps the delivery rules.
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
/// It plays scripts, from simple to wild: subscribers come, leave and end themselves, callbacks
/// send and subscribe, and threads do all of it at once. What it throws is a
/// ``PublisherLawReport``, which says what went wrong first.
///
/// - Parameters:
///   - limit: How long to wait for what does not come. A call that takes so long is reported, and
///     its thread is given up.
///   - make: Makes a publisher and what drives it, anew for each script.
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
  // What was called after everybody had left is found when all else is over.
  for (script, trial) in trials {
    if let broken = trial.log.broken { throw PublisherLawReport(broken, script, trial) }
  }
}

/// A sequence of operations on a publisher, with its expectations.
struct Script: Sendable {
  /// The end of a sentence that begins with "Script: ".
  let words: String
  let run: @Sendable (Trial) throws -> Void

  init(_ words: String, _ run: @escaping @Sendable (Trial) throws -> Void) {
    self.words = words
    self.run = run
  }

  /// Returns the scripts, simplest first, so that the first failure is the simplest.
  static func all(for publisher: PublisherUnderTest) -> [Script] {
    let ending = [endsEarly, endsOnce, callbackEnds, threadsEndConcurrently]
    let isEndless = publisher.driver.end == nil
    switch publisher.kind {
    case .broadcaster, .publishedValue:
      return [
        nothingIsSent, threeUpdates, lateSubscribers, callbackSends, firstCallbackSends,
        callbackSubscribes, someCancel, callbacksCancel, capturesAreReleased,
      ] + (isEndless ? [] : ending) + [
        threadSendsDuringCallback, threadCancelsDuringCallback, threadsCancelConcurrently, crowd,
      ]
    case .progressiveTask:
      return [
        nothingIsSent, threeUpdates, callbackSends, callbacksCancel, lateSubscribersToProgress,
        callbackFinishes,
      ] + tasks(isEndless) + [threadCancelsDuringCallback]
    case .task:
      return [nothingIsSent] + tasks(isEndless)
    }
  }

  private static func tasks(_ isEndless: Bool) -> [Script] {
    [finishes, oneCancelsEarly, allCancelEarly, callbacksCancelAtResult]
      + (isEndless ? [] : [endsWithoutResult]) + [threadsFinishConcurrently]
  }
}

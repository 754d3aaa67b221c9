/// Something that happens to a publisher, and what it may do then.
struct Script: Sendable {
  /// Continues "Script: ".
  let words: String
  let run: @Sendable (Trial) throws -> Void

  init(_ words: String, _ run: @escaping @Sendable (Trial) throws -> Void) {
    self.words = words
    self.run = run
  }

  /// From simple to wild, so that the first that fails says most.
  static func all(for publisher: PublisherUnderTest) -> [Script] {
    let ending = [endsAtOnce, endsOnce, callbackEnds, threadsEndAtOnce]
    let isEndless = publisher.driver.end == nil
    switch publisher.kind {
    case .broadcaster, .publishedValue:
      return [
        nothingIsSent, threeUpdates, latecomers, callbackSends, firstCallbackSends,
        callbackSubscribes, someLeave, callbacksLeave, capturesGo,
      ] + (isEndless ? [] : ending) + [
        threadSendsMeanwhile, threadLeavesMeanwhile, threadsLeaveAtOnce, crowd,
      ]
    case .progressiveTask:
      return [
        nothingIsSent, threeUpdates, callbackSends, callbacksLeave, latecomersToProgress,
        callbackFinishes,
      ] + tasks(isEndless) + [threadLeavesMeanwhile]
    case .task:
      return [nothingIsSent] + tasks(isEndless)
    }
  }

  private static func tasks(_ isEndless: Bool) -> [Script] {
    [finishes, oneLeavesEarly, allLeaveEarly, callbacksLeaveAtResult]
      + (isEndless ? [] : [endsWithoutResult]) + [threadsFinishAtOnce]
  }
}

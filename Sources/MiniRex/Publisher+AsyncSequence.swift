extension Publisher where Kind == BroadcasterKind {
  /// Makes a broadcaster of an async sequence.
  ///
  /// Each subscriber starts a loop of its own over the sequence, in a Swift task that goes on when
  /// its callback has returned, and that is cancelled when the subscriber leaves. A sequence that
  /// only one loop can go through, as an `AsyncStream` is, serves one subscriber.
  ///
  /// The subscription ends when the sequence does. It also ends when the sequence fails: what went
  /// wrong is not told. If you want to know, make results of the elements first, or collect them in
  /// a task, with `PublishedTask(collecting:)`.
  ///
  /// - Parameters:
  ///   - sequence: What to go through.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public init<Elements: AsyncSequence & Sendable>(
    _ sequence: Elements, fileID: String = #fileID, line: Int = #line
  ) where Elements.Element == Update {
    self.init(watchedBy: .ofSource("\(Elements.self)", fileID, line)) { receive in
      let task = Task {
        do {
          for try await element in sequence { receive(element) }
        } catch {
          // The release of `receive` tells of the end.
        }
      }
      return Subscription { task.cancel() }
    }
  }
}

extension Publisher where Kind == TaskKind {
  /// Makes a task of an async sequence: its result is an array of all elements, or the failure.
  ///
  /// The sequence is gone through once for all subscribers; when that begins and what cancels it is
  /// as for `init(_:)`. The array holds all elements until the task and its subscribers have gone,
  /// and has no limit.
  ///
  /// - Parameters:
  ///   - sequence: What to go through.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public init<Elements: AsyncSequence & Sendable>(
    collecting sequence: Elements, fileID: String = #fileID, line: Int = #line
  ) where Elements.Element: Sendable, Update == Result<[Elements.Element], Elements.Failure> {
    let task = PublishedTask { () async throws(Elements.Failure) in
      var elements: [Elements.Element] = []
      for try await element in sequence { elements.append(element) }
      return elements
    }
    self.init(
      watchedBy: .ofSource("\(Elements.self)", fileID, line), current: { nil },
      connect: task.connect)
  }
}

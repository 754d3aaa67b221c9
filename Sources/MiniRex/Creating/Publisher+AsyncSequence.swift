extension Publisher where Kind == BroadcasterKind {
  /// Creates a broadcaster from an async sequence.
  ///
  /// Each subscriber starts a separate loop over the sequence, in a Swift task that is canceled
  /// with the subscription. A sequence for a single loop, such as `AsyncStream`, serves one
  /// subscriber.
  ///
  /// It iterates no faster than a subscriber with `suspending(_:)` reads: at most one element more
  /// than the limit is taken. Other subscribers receive each element immediately.
  ///
  /// The publisher finishes when the sequence ends or throws. The error is not emitted. To receive
  /// it, map the elements to results first, or collect them in a task with
  /// `PublishedTask(collecting:)`.
  ///
  /// - Parameters:
  ///   - sequence: The sequence to iterate over.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public init<Elements: AsyncSequence & Sendable>(
    _ sequence: Elements, fileID: String = #fileID, line: Int = #line
  ) where Elements.Element == Update {
    self.init(
      watchedBy: .ofSource("\(Elements.self)", fileID, line),
      sending: { send in
        for try await element in sequence { try await send(element) }
      })
  }
}

extension Publisher where Kind == TaskKind {
  /// Creates a task that collects the elements of an async sequence, or fails with its error.
  ///
  /// All subscribers share one iteration. See `init(_:)` of a task for its start and its
  /// cancellation. The array is unbounded and stays in memory until the task and its subscribers
  /// are released.
  ///
  /// - Parameters:
  ///   - sequence: The sequence to iterate over.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public init<Elements: AsyncSequence & Sendable>(
    collecting sequence: Elements, fileID: String = #fileID, line: Int = #line
  ) where Elements.Element: Sendable, Update == Result<[Elements.Element], Elements.Failure> {
    let task = PublishedTask { () async throws(Elements.Failure) in
      var elements: [Elements.Element] = []
      for try await element in sequence { elements.append(element) }
      return elements
    }
    self.init(
      watchedBy: .ofSource("\(Elements.self)", fileID, line), value: .none,
      connect: task.connect)
  }
}

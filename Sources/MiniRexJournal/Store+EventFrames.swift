internal import MiniRex
public import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Store where State: Codable, Action: Codable {
  /// Returns the commits as server-sent events whose IDs are the numbers of the journal, so that an
  /// `EventSource` reconnects without a gap.
  ///
  /// ```swift
  /// let last = request.headers["last-event-id"].flatMap { Int($0) }
  /// for try await frame in store.eventFrames(after: last, in: journal, keepAlive: .seconds(15)) {
  ///   try await response.write(frame)
  /// }
  /// ```
  ///
  /// Each frame is complete text of the format `text/event-stream`:
  ///
  /// ```text
  /// event: action
  /// id: 42
  /// data: {"added":{"_0":1,"to":"apples"}}
  /// ```
  ///
  /// A client without a last ID, or whose commits the journal no longer has, first receives the state in
  /// a frame with the event `state`. It replaces its state by each `state`, and applies each `action`.
  /// Every commit is emitted once, in order. A restart of the server continues the numbers.
  ///
  /// Each iterator reads the file at the pace of its client, so a slow client needs no memory. It wakes
  /// up with the commits of the store. It ends when the store is released or its task is canceled, and
  /// throws a ``JournalFailure`` if the file cannot be read, or the state cannot be encoded. A client
  /// that has received a commit that a power loss then revokes begins again with the state, unless
  /// later commits have taken its number. A number of another journal is not recognized either.
  ///
  /// A server notices a lost connection only when it writes to it. With `keepAlive`, a frame with a
  /// comment, which clients ignore, is emitted at each tick of this interval, after the commits that are
  /// ready.
  ///
  /// - Parameters:
  ///   - id: The number of the last commit that the client has, or `nil`.
  ///   - journal: The journal that records the store.
  ///   - keepAlive: The interval of the comments, or `nil` for none.
  ///   - clock: The clock of the interval.
  public func eventFrames(
    after id: Int?, in journal: Journal<State, Action>, keepAlive: Duration? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) -> StoreEventFrames<State, Action> {
    StoreEventFrames(
      after: id, of: self, in: journal,
      beats: keepAlive.map { clock.broadcaster(every: $0).map { _ in .beat } })
  }
}

/// The commits of a recorded store, as server-sent events.
///
/// See `eventFrames(after:in:keepAlive:clock:)` of the store.
public struct StoreEventFrames<State: Codable & Sendable, Action: Codable & Sendable>:
  AsyncSequence, Sendable
{
  /// The text of one event.
  public typealias Element = String
  /// The reason why the commits cannot be read.
  public typealias Failure = JournalFailure

  fileprivate let id: Int?
  fileprivate weak let store: Store<State, Action>?
  fileprivate let journal: Journal<State, Action>
  fileprivate let beats: Broadcaster<WakeUp>?

  fileprivate init(
    after id: Int?, of store: Store<State, Action>, in journal: Journal<State, Action>,
    beats: Broadcaster<WakeUp>?
  ) {
    self.id = id
    self.store = store
    self.journal = journal
    self.beats = beats
  }

  /// Creates an iterator that reads on its own.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  /// An iterator over the frames.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let frames: StoreEventFrames
    private var follower: JournalFollower<State, Action>?
    /// Wakes up after each commit, because the recording writes its line first.
    private var wakeUps: PublisherValues<WakeUp>.Iterator?
    private var lastWakeUp = WakeUp.commit

    fileprivate init(_ frames: StoreEventFrames) { self.frames = frames }

    /// Returns the next frame, or `nil` at the end.
    public mutating func next() async throws(JournalFailure) -> String? {
      if follower == nil, lastWakeUp != .end {
        if let first = try await begin(after: frames.id) { return first }
      }
      while let follower, !Task.isCancelled {
        if let entry = follower.takeEntry() { return try frame(entry) }
        var isBehind = false
        do throws(JournalFailure) {
          isBehind = try await follower.read()
        } catch .notKept {
          return try await begin(after: nil)
        }
        if isBehind { continue }
        switch lastWakeUp {
        case .commit: lastWakeUp = await wakeUps?.next() ?? .end
        // A beat may have replaced a commit in the buffer, so the file is read first.
        case .beat:
          lastWakeUp = .commit
          return ": keep-alive\n\n"
        case .end: return nil
        }
      }
      return nil
    }

    /// Follows the journal from a number, or returns the frame of the present state.
    private mutating func begin(after id: Int?) async throws(JournalFailure) -> String? {
      let journal = frames.journal
      guard let store = frames.store else {
        lastWakeUp = .end
        return nil
      }
      try journal.requireRecording(of: store.rootIdentity)
      wakeUps = wakeUps(of: store).values(.bufferingNewest(1)).makeAsyncIterator()
      if let id, 0...journal.lastNumber ~= id {
        follow(journal, after: id)
        return nil
      }
      let commit = store.lastCommit
      let recording = journal.currentRecording
      if recording.offset == nil { try await recording.flush(through: commit.number) }
      guard let offset = recording.offset else { throw .notRecording }
      follow(journal, after: commit.number + offset)
      return try frame(
        JournalEntry<State, Action>(number: commit.number + offset, content: .state(commit.state)))
    }

    private func wakeUps(of store: Store<State, Action>) -> Broadcaster<WakeUp> {
      let commits = store.events.compactMap { $0.commit.map { _ in WakeUp.commit } }
      guard let beats = frames.beats else { return commits }
      // The clock does not end with the store.
      return merge(commits.append(.sequence([.end])), beats).prefix { $0 != .end }
    }

    private mutating func follow(_ journal: Journal<State, Action>, after number: Int) {
      follower = JournalFollower(
        journal.file.path, journal.decoder, after: number, durableOnly: false
      ) { [file = journal.file] () throws(JournalFailure) in
        let (newest, segments, _) = file.files
        return JournalFiles(newest: newest, segments: segments)
      }
    }
  }
}

private enum WakeUp: Sendable {
  case commit, beat, end
}

private func frame<State: Encodable, Action: Encodable>(_ entry: JournalEntry<State, Action>)
  throws(JournalFailure) -> String
{
  switch entry.content {
  case .action(let action): try frame("action", entry.number, action)
  case .state(let state): try frame("state", entry.number, state)
  }
}

/// JSON without formatting has no line breaks, which would end the data.
private func frame(_ name: String, _ number: Int, _ value: some Encodable) throws(JournalFailure)
  -> String
{
  let json = try encoded(value, number, by: makeEncoder())
  return "event: \(name)\nid: \(number)\ndata: \(String(decoding: json, as: UTF8.self))\n\n"
}

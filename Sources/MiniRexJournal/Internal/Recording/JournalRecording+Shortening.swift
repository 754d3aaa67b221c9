internal import Dispatch
internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension JournalRecording {
  /// Writes a snapshot or begins a compaction, if the lines since the last state weigh enough or a compaction was
  /// requested.
  ///
  /// - Parameter commit: The commit of the last line.
  func shorten(_ commit: Commit<State, Action>) {
    if memory.value.isCompactionRequested, let offset = memory.value.offset,
      compactIfRequested(commit, offset, blocks: true)
    {
      return
    }
    guard let (part, weight) = memory.value.end else { return }
    shorten(commit, part, weight, memory.value.marks.second, blocks: true)
  }

  /// Shortens the file if the first line, or the lines that were collected during its encoding, weigh enough.
  ///
  /// If the store has a later commit, its line decides.
  ///
  /// - Parameter blocks: `true` if commits are still collected.
  func shortenAfterWriting(from store: Store<State, Action>, blocks: Bool) {
    let (part, weight, marks) = hold.file.endOfLines
    // Most recordings end here. Otherwise, a send would copy the state that is read below.
    guard progress.isActive,
      isCompactionDue(part, weight, marks.second) || isSnapshotDue(part, weight)
    else { return }
    let commit = store.lastCommit
    guard let offset = progress.offset, part.number == commit.number + offset else { return }
    shorten(commit, part, weight, marks.second, blocks: blocks)
  }

  private func isCompactionDue(_ part: JournalPart, _ weight: JournalWeight, _ second: Int) -> Bool
  {
    weight.isDue(
      options.history, length: part.length, commits: part.number - part.header.first,
      seconds: second - (weight.firstSecond ?? second))
  }

  private func shorten(
    _ commit: Commit<State, Action>, _ part: JournalPart, _ weight: JournalWeight, _ second: Int,
    blocks: Bool
  ) {
    if isCompactionDue(part, weight, second) {
      if hold.file.beginWork(isCompaction: true) {
        compact(commit, part, weight, second, blocks: blocks) { _ in }
      }
    } else if isSnapshotDue(part, weight), hold.file.beginWork(isCompaction: false) {
      writeSnapshot(commit, part)
    }
  }

  /// Begins a new file with the store's state.
  ///
  /// If the file does not have the store's last commit, `receive` begins the new file when it has written that commit.
  ///
  /// Not a subscription, because the first call of a new subscriber can precede earlier commits, after a handover between
  /// delivering threads. The request precedes the look at the file. Therefore, `receive` finds the request after each
  /// commit that the look does not find. Before the first line, the file has the state of another run. `record` looks
  /// again after that line.
  func requestCompaction(
    of store: Store<State, Action>, _ done: @escaping @Sendable (CompactionResult) -> Void
  ) {
    if let failure = progress.requestCompaction(after: store.lastNumber, done) {
      return done(.failed(failure))
    }
    beginRequestedCompaction(of: store)
  }

  func beginRequestedCompaction(of store: Store<State, Action>) {
    // Without a request, a send would copy the state that is read here.
    if !progress.isCompactionRequested { return }
    let commit = store.lastCommit
    guard let offset = progress.offset, hold.file.extent.number == commit.number + offset else {
      return
    }
    compactIfRequested(commit, offset, blocks: false)
  }

  /// - Parameters:
  ///   - commit: The last commit in the file.
  ///   - offset: The difference between the number of a line and the store's number.
  ///   - blocks: `true` if the caller delivers the commit.
  /// - Returns: `false` if no compaction was requested.
  @discardableResult
  private func compactIfRequested(
    _ commit: Commit<State, Action>, _ offset: Int, blocks: Bool
  ) -> Bool {
    let requests = progress.takeCompactions(with: commit.number)
    if requests.isEmpty { return false }
    let done = { @Sendable result in
      for request in requests { request(result) }
    }
    let (part, weight, marks) = hold.file.endOfLines
    if !progress.isActive {
      done(.failed(.notRecording))
    } else if part.number != commit.number + offset {
      // A later commit was written since.
      done(.isBusy)
    } else if part.number == part.header.first, part.header.version > 1 {
      done(.done)
    } else if hold.file.beginWork(isCompaction: true) {
      compact(commit, part, weight, marks.second, blocks: blocks, done)
    } else {
      done(.isBusy)
    }
    return true
  }

  /// Encodes the state of a commit, and compacts the file.
  ///
  /// Small states are encoded here, and large states on another thread.
  ///
  /// Without history, a compaction with a small state takes two synchronizations. It runs here, so that the file never
  /// outgrows its limit.
  private func compact(
    _ commit: Commit<State, Action>, _ part: JournalPart, _ weight: JournalWeight,
    _ second: Int, blocks: Bool, _ done: @escaping @Sendable (CompactionResult) -> Void
  ) {
    let work = work
    if weight.last.bytes > smallState || !hasJSON(of: commit.state, upTo: smallState) {
      progress.report()
      return encodeElsewhere(commit.state, part.number) {
        done(work.compact($0, part, second))
      }
    }
    let json = encode(commit.state, part.number)
    if blocks, options.history.span == .none { return done(work.compact(json, part, second)) }
    DispatchQueue.global().async { done(work.compact(json, part, second)) }
  }

  /// Begins the recording with a new file, because the old file must not be written.
  func replaceFile(_ json: Data, _ follows: Bool) throws(JournalFailure) {
    if let refusal = hold.file.refusal { throw refusal }
    guard hold.file.awaitWork() else { return }
    defer { hold.file.endWork() }
    // A compaction may have replaced the file since.
    let part = hold.file.extent
    let start = work.start(
      part, follows ? "\"snapshot\"" : "\"start\"", json, memory.value.marks.second, isFinal: true)
    if try hold.file.compact(start) {
      let (part, weight, _) = hold.file.endOfLines
      memory.value.end = (part, weight)
    }
  }

  private func writeSnapshot(_ commit: Commit<State, Action>, _ part: JournalPart) {
    let work = work
    encodeElsewhere(commit.state, part.number) { work.writeSnapshot($0, part) }
  }

  /// Work on another thread retains no journal, so that the file is unlocked when the journal is released.
  private var work: JournalWork {
    JournalWork(
      file: hold.file, writer: writer, progress: progress, version: options.upcasting.stateVersion)
  }
}

/// Encodes a state on another thread.
///
/// The state is released before `body` writes it, which can take long. Otherwise, a send during the writes would copy it.
private func encodeElsewhere<State: Encodable & Sendable>(
  _ state: State, _ number: Int, _ body: @escaping @Sendable (Result<Data, JournalFailure>) -> Void
) {
  let state = SerialState<State?>(state)
  DispatchQueue.global().async {
    guard let json = state.value.take().map({ encode($0, number) }) else { return }
    body(json)
  }
}

private func encode(_ value: some Encodable, _ number: Int) -> Result<Data, JournalFailure> {
  Result { () throws(JournalFailure) in try encoded(value, number, by: makeEncoder()) }
}

/// A compaction or a snapshot of a recording.
private struct JournalWork: Sendable {
  let file: JournalFile
  let writer: Int
  let progress: RecordingState
  /// The version of the states.
  let version: Int

  func compact(_ json: Result<Data, JournalFailure>, _ part: JournalPart, _ second: Int)
    -> CompactionResult
  {
    var result = CompactionResult.done
    do throws(JournalFailure) {
      let start = start(part, "\"snapshot\"", try json.get(), second, isFinal: false)
      if !(try file.compact(start)) { result = .isBusy }
    } catch {
      result = .failed(error)
      file.noteFailedCompaction(error)
    }
    file.endWork()
    if let failure = file.lostFailure {
      progress.fail(with: failure)
      result = .failed(failure)
    }
    progress.report()
    return result
  }

  func writeSnapshot(_ json: Result<Data, JournalFailure>, _ part: JournalPart) {
    do throws(JournalFailure) {
      defer { file.endWork() }
      try file.append(try json.get(), version, after: part, by: writer)
    } catch {
      progress.fail(with: error)
    }
  }

  func start(
    _ part: JournalPart, _ key: String, _ json: Data, _ second: Int, isFinal: Bool
  ) -> CompactionStart {
    var line = JournalLineWriter()
    line.append(
      part.number, .init(second: second < 0 ? nil : second, version: version), key, json)
    return CompactionStart(
      old: part, header: JournalHeader(segment: part.header.segment + 1, first: part.number),
      line: line.bytes, stateBytes: json.count, second: second, offset: part.length,
      writer: writer, isFinal: isFinal)
  }
}

enum CompactionResult: Sendable {
  case done
  case failed(JournalFailure)
  /// Other work ran, or another recording began.
  case isBusy
}

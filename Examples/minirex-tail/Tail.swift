import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// What is told about a file, beside its lines.
typealias Notice = (text: String, isFailure: Bool)

/// Reads files, and tells their lines and those that match.
final class Tail: Sendable {
  /// What was read at once; its lines have been told before.
  let pieces: Broadcaster<Piece>
  let lines: Broadcaster<Line>
  let matches: Broadcaster<Line>
  let notices: Broadcaster<Notice>
  /// How far a file has been read for the first time; `nil` when that is over.
  let progress: Broadcaster<Double?>
  /// The counts, as text.
  let summary: PublishedValue<String>

  private let pieceSource = BroadcastSource<Piece>(name: "pieces")
  private let noticeSource = BroadcastSource<Notice>(name: "notices")
  private let progressSource = BroadcastSource<Double?>(name: "progress")
  /// Calls when there may be something to read.
  private let hints = BroadcastSource<Void>(name: "hints")
  /// Only one at a time tells something, so that whoever reads waits for whoever writes.
  private let telling = DispatchQueue(label: "minirex-tail")
  private let forwarding: Subscription

  /// - Parameter text: What is in a line that matches; no line matches `nil`.
  init(matching text: [UInt8]?) {
    let lineSource = BroadcastSource<Line>(name: "lines")
    pieces = pieceSource.publisher
    notices = noticeSource.publisher
    progress = progressSource.publisher
    let lines = lineSource.publisher
    self.lines = lines
    // Shared, so that one search serves all subscribers.
    matches = text.map { text in lines.filter { $0.contains(text) }.share() } ?? .never
    forwarding = pieces.subscribe { piece in
      for line in piece.lines { lineSource.broadcast(line) }
    }
    summary = combineLatest(
      pieces.sum { $0.lines.count }, pieces.sum { $0.byteCount }, matches.sum { _ in 1 },
      lines.sum { _ in 1 }
    ) { "lines: \($0)\nbytes: \($1)\nmatches: \($2)\nupdates: \($3)" }
  }

  /// Reads the files to their ends, and goes on with what comes until it is cancelled.
  @MainActor func read(_ paths: [String], once: Bool) async {
    let names = paths.map { FollowedName($0, tail: self) }
    // Any number of hints, while files are read, are one.
    var looks = hints.publisher.values(.bufferingNewest(1)).makeAsyncIterator()
    do {
      // One after the other: there may be more of them than files can be open.
      for name in names { try await once ? name.readOnce() : name.read() }
      while !once, await looks.next() != nil {
        for name in names { try await name.read() }
      }
    } catch {
      // It was cancelled while a file was read for the first time.
    }
    for name in names { await name.close() }
  }

  /// Returns when everybody has got everything.
  func end() async {
    let rest = pieces.values(.bufferingNewest(1))
    pieceSource.end()
    for await _ in rest {}
  }

  func tell(_ piece: Piece) {
    telling.sync { pieceSource.broadcast(piece) }
  }

  func tell(_ notice: String, isFailure: Bool = false) {
    noticeSource.broadcast((notice, isFailure))
  }

  func hint() {
    hints.broadcast(())
  }

  func tellProgress(
    of reading: ProgressiveTask<TransferProgress, some Sendable, POSIXError>
  ) -> Subscription {
    reading.broadcaster.subscribe { [progressSource] update in
      let progress: Double? =
        if case .progress(let progress) = update { progress.fraction } else { nil }
      progressSource.broadcast(progress)
    }
  }
}

extension Publisher where Kind == BroadcasterKind {
  /// The sum of what is delivered from now on.
  fileprivate func sum(_ amount: @escaping @Sendable (Update) -> Int) -> PublishedValue<Int> {
    scan(0) { $0 + amount($1) }.publishedValue(initial: 0)
  }
}

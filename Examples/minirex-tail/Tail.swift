import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A report about a file.
typealias Notice = (text: String, isFailure: Bool)

/// Reads files, and publishes their lines and the lines that match.
final class Tail: Sendable {
  /// Emits each read, after its lines.
  let pieces: Broadcaster<Piece>
  let lines: Broadcaster<Line>
  let matches: Broadcaster<Line>
  let notices: Broadcaster<Notice>
  /// Emits the progress of the first read of a file, and `nil` when that read is finished.
  let progress: Broadcaster<Double?>
  /// The counts, as text.
  let summary: PublishedValue<String>

  /// A Boolean value that indicates whether lines are searched, and so must be complete.
  let keepsLines: Bool

  private let pieceSource = BroadcastSource<Piece>(name: "pieces")
  private let noticeSource = BroadcastSource<Notice>(name: "notices")
  private let progressSource = BroadcastSource<Double?>(name: "progress")
  /// Emits when files may have new bytes.
  private let hints = BroadcastSource<Void>(name: "hints")
  /// Publishes one read at a time, so that readers wait for a slow output.
  private let publishing = DispatchQueue(label: "minirex-tail")
  private let forwarding: Subscription

  /// - Parameter text: The text of a matching line. If `nil`, no line matches.
  init(matching text: [UInt8]?) {
    keepsLines = text != nil
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

  /// Reads the files to their ends, and then reads new bytes until the task is canceled.
  @MainActor func read(_ paths: [String], once: Bool) async {
    let names = paths.map { FollowedName($0, tail: self) }
    // All hints during a read become one.
    var looks = hints.publisher.values(.bufferingNewest(1)).makeAsyncIterator()
    do {
      // Sequentially, because there may be more files than descriptors.
      for name in names { try await once ? name.readOnce() : name.read() }
      while !once, await looks.next() != nil {
        for name in names { try await name.read() }
      }
    } catch {
      // The task was canceled during the first read of a file.
    }
    for name in names { await name.close() }
  }

  /// Finishes the reads, and returns when every subscriber has received them.
  func end() async {
    let rest = pieces.values(.bufferingNewest(1))
    pieceSource.end()
    for await _ in rest {}
  }

  func publish(_ piece: Piece) {
    publishing.sync { pieceSource.broadcast(piece) }
  }

  func report(_ notice: String, isFailure: Bool = false) {
    noticeSource.broadcast((notice, isFailure))
  }

  func hint() {
    hints.broadcast(())
  }

  func reportProgress(
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
  /// The sum of all amounts since the subscription.
  fileprivate func sum(_ amount: @escaping @Sendable (Update) -> Int) -> PublishedValue<Int> {
    scan(0) { $0 + amount($1) }.publishedValue(initial: 0)
  }
}

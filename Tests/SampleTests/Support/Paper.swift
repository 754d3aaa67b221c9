import MiniRex

/// The output of a sample.
///
/// `let print = paper.print` records its lines for the test.
final class Paper: Sendable {
  private let written = Lock<[String]>([])

  var lines: [String] { written.withLock { $0 } }

  var print: @Sendable (String) -> Void {
    { line in self.written.withLock { $0.append(line) } }
  }
}

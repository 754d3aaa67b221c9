import MiniRex

/// What a sample prints: `let print = paper.print` makes its lines readable for the test.
final class Paper: Sendable {
  private let written = Lock<[String]>([])

  var lines: [String] { written.withLock { $0 } }

  var print: @Sendable (String) -> Void {
    { line in self.written.withLock { $0.append(line) } }
  }
}

#if NATS
import Foundation
import TestSupport
import Testing

/// A client of the package, which is built from the last commit of this checkout.
@Suite(.heavy)
struct StrangerTests {
  /// Once is enough, because the build needs no server and no sanitizer.
  private static let isRepeated =
    ProcessInfo.processInfo.environment["MINIREX_NATS_SERVER"] != nil || scale < 1

  @Test(.enabled(if: !isRepeated))
  func `P2 a stranger builds the bridge by URL from a folder named nats`() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let script = root.appending(path: "Scripts/check-package").path
    let child = try Child(["-c", #"exec "$0" nats 2>&1"#, script], path: "/bin/sh")
    let lines = await child.output.rest()
    #expect(await child.status() == 0, "\(lines.suffix(20).joined(separator: "\n"))")
  }
}
#endif

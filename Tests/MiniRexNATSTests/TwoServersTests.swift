#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// The server of the tests, and the newest server if CI has installed it.
///
/// `.ci/run nats` runs all tests with each of them. These tests prove that each run has the server that it claims.
@Suite(.heavy)
struct TwoServersTests {
  private static var programs: [String] {
    let package = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
    let newest = package.appending(path: ".build-nats/newest/bin/nats-server").path
    let isInstalled = FileManager.default.isExecutableFile(atPath: newest)
    return Array(Set([NATSServer.program] + (isInstalled ? [newest] : []))).sorted()
  }

  @Test(arguments: programs)
  func `N16 one suite passes with two servers`(_ program: String) async throws {
    let server = try await NATSServer.keeping(program: program)
    let nats = NATSConnection(server.url)
    let messages = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    let service = nats.reply(on: "double") { (number: Int) in
      PublishedTask<Int, Never>.success(2 * number)
    }
    try await nats.areSubscribed()
    try nats.publish(1, on: "numbers")
    #expect(await messages.next().map(\.payload) == [1])
    #expect(
      await nats.request(Int.self, 4, on: "double", timeout: .seconds(9)).result == .success(8))
    #expect(await nats.log("ledger").create().hasSucceeded())
    let replica = try LedgerReplica.make(nats.log("ledger"))
    #expect(await replica.send(.noted("one")).success()?.sequence == 1)

    // The version is the program's, and selects the features.
    let version = try #require(nats.serverVersion)
    #expect(try await reported(by: program).hasSuffix("v\(version)\n"))
    let bucket = nats.bucket("prices")
    #expect(await bucket.create().hasSucceeded())
    let put = await bucket.put(1, for: "a", expiringAfter: .seconds(60)).result
    let parts = version.split(separator: ".").prefix(2).compactMap { Int($0) }
    if parts.lexicographicallyPrecedes([2, 11]) {
      #expect(put == .failure(.unsupported(needs: "2.11")))
    } else {
      #expect(put == .success(NATSRevision(1)))
    }
    await replica.close()
    withExtendedLifetime(service) {}
    await nats.close()
  }

  /// Returns the output of a server's `--version`.
  private func reported(by program: String) async throws -> String {
    let folder = try Folder()
    try folder.write("", to: "version")
    guard let input = FileHandle(forReadingAtPath: "/dev/null"),
      let output = FileHandle(forWritingAtPath: folder.path("version"))
    else { throw POSIXError(.ENOENT) }
    let process = try RunningProcess(
      ["/bin/sh", "-c", #"exec "$0" --version"#, program], streams: [input, output])
    _ = await process.status()
    return try String(contentsOf: folder.file("version"), encoding: .utf8)
  }
}
#endif

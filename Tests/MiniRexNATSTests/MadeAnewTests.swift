#if NATS
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// A stream is removed, and another stream with its name is created.
@Suite(.heavy)
struct MadeAnewTests {
  @Test(arguments: [2, 5, 9])
  func `N8 a stream that was created again is reported, and read from its beginning`(_ count: Int)
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    for number in 1...5 { #expect(await stream.append(number).hasSucceeded()) }
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    #expect(await recorder.next(5).map(\.payload) == Array(1...5))
    // All requests of the reader are answered by now.
    await until(await nats.consumers(of: stream).contains(#""num_pending":0"#))

    #expect(await stream.remove().hasSucceeded())
    #expect(await stream.create().hasSucceeded())
    for number in 1...count { #expect(await stream.append(10 * number).hasSucceeded()) }

    let sequences = (1...UInt64(count)).map { $0 }
    let new = await recorder.next(count)
    #expect(new.map(\.sequence) == sequences)
    #expect(new.map(\.payload) == (1...count).map { 10 * $0 })
    await until { diagnostics.updates.contains(.replaced(stream: "board")) }
    #expect(await stream.append(1).hasSucceeded())
    #expect(await recorder.next().map(\.sequence) == [UInt64(count) + 1])
    #expect(diagnostics.updates.count { $0 == .replaced(stream: "board") } == 1)
    await nats.close()
  }

  @Test(arguments: [NATSCatchUp.latest, .everyRevision])
  func `N7 a published value follows a bucket that was created again`(_ way: NATSCatchUp)
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    for number in 1...3 { #expect(await bucket.put(number, for: "count").hasSucceeded()) }
    let recorder = Recorder(bucket.publishedValue(of: Int.self, for: "count", catchingUp: way))
    #expect(await recorder.next(2) == [nil, 3])
    // All requests of the reader are answered by now.
    await until(await nats.consumers(of: nats.stream("KV_config")).contains(#""num_pending":0"#))

    #expect(await bucket.remove().hasSucceeded())
    #expect(await bucket.create().hasSucceeded())

    #expect(await recorder.next() == [nil])
    #expect(await bucket.put(7, for: "count").hasSucceeded())
    #expect(await recorder.next() == [7])
    await nats.close()
  }
}
#endif

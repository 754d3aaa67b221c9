#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct StreamTests {
  @Test func `N8 a stream is read from any position, in order`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    for number in 1...10 {
      #expect(await stream.append(number).result == .success(UInt64(number)))
    }
    try await Task.sleep(for: .milliseconds(20))
    let noon = Date()
    for number in 11...20 { #expect(await stream.append(number).hasSucceeded()) }
    func reads(_ position: NATSStreamPosition) -> Recorder<NATSStreamMessage<Int>> {
      Recorder(stream.broadcaster(of: Int.self, from: position))
    }

    let all = reads(.beginning)
    #expect(await all.next(20).map(\.payload) == Array(1...20))
    #expect(all.updates.map(\.sequence) == Array(1...20))
    #expect(all.updates.map(\.pending) == (0..<20).reversed().map { UInt64($0) })
    #expect(all.updates.allSatisfy { $0.missing == nil && $0.subject == "board" })
    #expect(abs(try #require(all.updates.last).date.timeIntervalSinceNow) < 60)
    #expect(await reads(.sequence(5)).next(16).map(\.payload) == Array(5...20))
    #expect(await reads(.date(noon)).next(10).map(\.payload) == Array(11...20))
    #expect(await reads(.last).next(1).map(\.payload) == [20])
    let new = reads(.new)
    await until(await nats.consumers(of: stream).contains(#""deliver_policy":"new""#))
    #expect(await stream.append(21).hasSucceeded())
    #expect(await new.next(1).map(\.payload) == [21])
    await nats.close()
  }

  @Test func `N8 an append that expects an old sequence fails`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.append(1).result == .failure(.noStream("board")))
    #expect(await stream.create().hasSucceeded())

    #expect(await stream.append(1, expecting: 0).result == .success(1))
    #expect(await stream.append(2, expecting: 1).result == .success(2))
    #expect(await stream.append(3, expecting: 1).result == .failure(.revision(2)))
    #expect(await stream.append(3, expecting: 0).result == .failure(.revision(2)))
    #expect(await stream.append(3, id: "three").result == .success(3))
    #expect(await stream.append(3, id: "three").result == .success(3))
    await nats.close()
  }

  @Test func `N8 a gap in the stream is reported`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    for number in 1...10 { #expect(await stream.append(number).hasSucceeded()) }
    let proxy = try Proxy(to: server.address)
    let reading = NATSConnection(proxy.url)
    let recorder = Recorder(reading.stream("board").broadcaster(of: Int.self, from: .beginning))
    #expect(await recorder.next(10).count == 10)

    proxy.cut()
    await reading.isEventually(.reconnecting)
    for number in 11...20 { #expect(await stream.append(number).hasSucceeded()) }
    #expect(await stream.purge(before: 16).hasSucceeded())
    proxy.mend()

    #expect(await recorder.next(5).map(\.sequence) == [16, 17, 18, 19, 20])
    #expect(recorder.updates.map(\.missing).filter { $0 != nil } == [11..<16])
    let late = Recorder(reading.stream("board").broadcaster(of: Int.self, from: .sequence(3)))
    #expect(await late.next().first?.missing == 3..<16)
    await reading.close()
    await nats.close()
  }

  @Test func `N8 a slow subscriber misses no message and stays within its limit`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    var options = NATSOptions()
    options.receiveLimit = 10
    let slow = NATSConnection(server.url, options: options)
    let count = max(300, scaled(3_000))
    let appended = (1...count).map { Recorder(stream.append($0)) }
    for append in appended { _ = await append.next() }
    let diagnostics = Recorder(slow.diagnostics)

    let recorder = Recorder(slow.stream("board").broadcaster(of: Int.self, from: .beginning)) { _ in
      usleep(20)
    }

    #expect(await recorder.next(count).map(\.payload) == Array(1...count))
    #expect(diagnostics.updates.isEmpty)
    await slow.close()
    await nats.close()
  }

  @Test func `N8 a full stream refuses appends until it has room`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSStreamOptions()
    options.maxMessages = 3
    options.discardPolicy = .new
    let stream = nats.stream("board")
    #expect(await stream.create(options).hasSucceeded())
    for number in 1...3 { #expect(await stream.append(number).hasSucceeded()) }

    guard case .failure(.jetStream)? = await stream.append(4).result else {
      Issue.record("it took one more")
      return
    }
    #expect(await stream.purge(before: 3).hasSucceeded())
    #expect(await stream.append(4).result == .success(4))
    await nats.close()
  }

  @Test func `N8 a purge before the first sequence removes nothing`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    #expect(await stream.append("kept").hasSucceeded())

    for sequence in [0, 1] as [UInt64] {
      #expect(await stream.purge(before: sequence).hasSucceeded())
    }

    let first = await stream.broadcaster(of: String.self, from: .beginning).first().result
    #expect(first?.get().payload == "kept")
    guard case .failure(.noStream)? = await nats.stream("missing").purge(before: 1).result else {
      Issue.record("a purge of a missing stream succeeded")
      return
    }
    await nats.close()
  }
}
#endif

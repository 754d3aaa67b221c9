import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import Testing

@Suite(.timeLimit(.minutes(20)))
struct StreamTests {
  @Test func `N8 it reads from any position, in order`() async throws {
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
    func reads(_ position: StreamPosition) -> Recorder<StreamMessage<Int>> {
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

  @Test func `N8 an append is refused when the stream has moved on`() async throws {
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

  @Test func `N8 a gap that the stream itself has made is told`() async throws {
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

  @Test func `N8 many messages come once and in order through three restarts of the server`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    let count = max(4_000, scaled(100_000))
    let recorder = Recorder(
      stream.broadcaster(of: Int.self, from: .beginning).map { ($0.sequence, $0.missing == nil) }
        .map { $0.1 ? $0.0 : 0 })
    let writer = Task {
      var number = 1
      while number <= count {
        // What was not answered may be there: then the next ones are refused.
        let batch = min(1_000, count + 1 - number)
        let tasks = (0..<batch).map { offset in
          stream.append(number + offset, expecting: UInt64(number + offset - 1))
        }
        let results = tasks.map { Recorder($0) }
        for result in results { _ = await result.next() }
        var last = UInt64(number - 1)
        for result in results {
          switch result.updates.first {
          case .success(let sequence)?: last = max(last, sequence)
          case .failure(.revision(let now?))?: last = max(last, now)
          default: break
          }
        }
        number = Int(last) + 1
      }
    }
    for round in 1...3 {
      await until { recorder.updates.count > round * count / 4 }
      await server.stop()
      try await server.start()
      await nats.isEventually(.connected)
    }
    await writer.value
    await until { recorder.updates.count >= count }

    #expect(recorder.updates == (1...UInt64(count)).map { $0 })
    await nats.close()
  }

  @Test func `N8 a slow subscriber misses nothing, and keeps its messages within its limit`()
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
    let troubles = Recorder(slow.troubles)

    let recorder = Recorder(slow.stream("board").broadcaster(of: Int.self, from: .beginning)) { _ in
      usleep(20)
    }

    #expect(await recorder.next(count).map(\.payload) == Array(1...count))
    #expect(troubles.updates.isEmpty)
    await slow.close()
    await nats.close()
  }

  @Test func `N8 work is delivered until it is acknowledged, with the count of deliveries`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    for number in 1...3 { #expect(await stream.append(number).hasSucceeded()) }
    let work = stream.work(of: Int.self, durable: "billing", ackWait: .seconds(5))
    let recorder = Recorder(work)

    let first = await recorder.next(3)
    #expect(first.map(\.payload) == [1, 2, 3])
    #expect(first.map(\.count) == [1, 1, 1])
    first[0].ack()
    first[1].retry()
    let second = try #require(await recorder.next().first)
    #expect(second.payload == 2 && second.count == 2)
    second.reject()
    let third = try #require(await recorder.next().first)
    #expect(third.payload == 3 && third.count == 2)
    third.ack()

    #expect(await stream.append(4).hasSucceeded())
    let fourth = try #require(await recorder.next().first)
    #expect(fourth.payload == 4)
    fourth.retry(after: .milliseconds(50))
    #expect(await recorder.next().first?.count == 2)
    await nats.close()
  }

  @Test func `N8 work is shared by those who use the same name`() async throws {
    let server = try await NATSServer.keeping()
    let connections = (0..<3).map { _ in NATSConnection(server.url) }
    let stream = connections[0].stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let done = BroadcastSource<Int>()
    let recorder = Recorder(done.publisher)
    let tokens = connections.map { nats in
      nats.stream("jobs").work(of: Int.self, durable: "billing").subscribe {
        done.broadcast($0.payload)
        $0.ack()
      }
    }
    let appended = (1...300).map { Recorder(stream.append($0)) }

    #expect(await recorder.next(300).sorted() == Array(1...300))
    #expect(appended.count == 300)
    withExtendedLifetime(tokens) {}
    for nats in connections { await nats.close() }
  }

  @Test func `N8 the work of a process that was killed comes again to another`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    #expect(await stream.append("job").hasSucceeded())
    let taken = Recorder(nats.broadcaster(of: String.self, on: "taken"))
    try await nats.areSubscribed()
    let guest = try Guest("work", server.url, "jobs", "taken")
    #expect(await taken.next().first?.payload == "job")

    guest.kill()
    let recorder = Recorder(
      stream.work(of: String.self, durable: "billing", ackWait: .milliseconds(500)))

    let again = try #require(await recorder.next().first)
    #expect(again.payload == "job" && again.count >= 2)
    again.ack()
    await nats.close()
  }

  @Test func `N9 work that cannot be decoded is told and does not come again`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("jobs")
    #expect(await stream.create().hasSucceeded())
    let troubles = Recorder(nats.troubles)
    let recorder = Recorder(
      stream.work(of: Int.self, durable: "billing", ackWait: .seconds(600)))
    #expect(await stream.append("no number").hasSucceeded())
    #expect(await stream.append(7).hasSucceeded())

    #expect(await recorder.next().first?.payload == 7)
    recorder.updates.first?.ack()
    // The server has taken both for done: no message of the stream is waited for any more.
    await until(
      await nats.consumers(of: stream).contains(/"ack_floor":\{[^}]*"stream_seq":2/))
    let reasons = troubles.updates.filter { trouble in
      if case .undecodable("jobs", _) = trouble { true } else { false }
    }
    #expect(reasons.count == 1)
    await nats.close()
  }

  @Test func `N8 a stream that is full refuses, and goes on when there is room`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSStreamOptions()
    options.maxMessages = 3
    options.refusesWhenFull = true
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
}

extension NATSConnection {
  /// What the server says of those who read a stream, or work on it.
  fileprivate func consumers(of stream: NATSStream) async -> String {
    let list = await request(
      String.self, "", on: "$JS.API.CONSUMER.LIST.\(stream.name)", timeout: .seconds(60)
    ).result
    if case .success(let text)? = list { return text }
    return ""
  }
}

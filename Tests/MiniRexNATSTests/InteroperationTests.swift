#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Encodings and settings that other clients share.
@Suite(.heavy)
struct InteroperationTests {
  private struct Event: Codable, Sendable, Equatable {
    var date: Date
    var data: Data
  }

  private struct Report: Codable, Sendable, Equatable {
    var time: Double
    var bytes: [UInt8]
  }

  @Test func `dates are ISO 8601 and data is Base64`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let texts = Recorder(nats.broadcaster(of: String.self, on: "events"))
    let events = Recorder(nats.broadcaster(of: Event.self, on: "events"))
    try await nats.areSubscribed()
    let dates = [
      Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1_795_464_935.25), Date(),
      .distantPast, .distantFuture, Date(timeIntervalSince1970: -0.001),
    ]

    for date in dates { try nats.publish(Event(date: date, data: Data([0, 255])), on: "events") }

    #expect(await events.next(dates.count).map(\.payload.date) == dates)
    let all = await texts.next(dates.count).map(\.payload).joined()
    #expect(all.contains(#""date":"1970-01-01T00:00:00Z""#))
    #expect(all.contains(#""date":"2026-11-23T20:15:35.250Z""#))
    #expect(all.contains(#""data":"AP8=""#))
    // Earlier versions wrote numbers. Other clients write any number of digits and any time zone.
    try nats.publish(#"{"date":0.5,"data":""}"#, on: "events")
    try nats.publish(#"{"date":"2001-01-01T02:00:00.5+02:00","data":""}"#, on: "events")
    let half = Date(timeIntervalSinceReferenceDate: 0.5)
    #expect(await events.next(2).map(\.payload.date) == [half, half])
    #expect(throws: NATSError.self) {
      try nats.publish(Date(timeIntervalSince1970: .infinity), on: "events")
    }
    await nats.close()
  }

  @Test(.enabled(if: Peer.isThere, "python3 has no module 'nats': pip install nats-py"))
  func `create succeeds after another client created the same with default options`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let made = Recorder(nats.broadcaster(of: String.self, on: "made"))
    let reports = Recorder(nats.broadcaster(of: Report.self, on: "report"))
    try await nats.areSubscribed()
    let peer = try Peer("maker.py", server.url)
    _ = await made.next()
    let (bucket, stream) = (nats.bucket("config"), nats.stream("board"))

    #expect(await bucket.create().hasSucceeded())
    #expect(await stream.create().hasSucceeded())
    var options = NATSBucketOptions()
    options.history = 5
    #expect(!(await bucket.create(options).hasSucceeded()))
    var streamOptions = NATSStreamOptions()
    streamOptions.maxMessages = 5
    #expect(!(await stream.create(streamOptions).hasSucceeded()))

    let date = Date(timeIntervalSince1970: 1_795_464_935.123_456_7)
    #expect(await stream.append(Event(date: date, data: Data([7, 0]))).hasSucceeded())
    let report = try #require(await reports.next().first?.payload)
    #expect(abs(report.time - date.timeIntervalSince1970) < 0.000_001 && report.bytes == [7, 0])
    let events = Recorder(stream.broadcaster(of: Event.self, from: .sequence(2)))
    #expect(
      await events.next().map(\.payload) == [
        Event(date: Date(timeIntervalSince1970: 1_795_464_935.25), data: Data([0, 255]))
      ])
    #expect(await peer.status() == 0)
    await nats.close()
  }

  @Test func `N7 all keys of a bucket are watched over one consumer`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("prices")
    #expect(await bucket.create().hasSucceeded())
    for number in 1...50 { #expect(await bucket.put(number, for: "a.\(number)").hasSucceeded()) }
    #expect(await bucket.put(0, for: "b").hasSucceeded())

    let all = Recorder(bucket.publishedEntries(of: Int.self))
    let some = Recorder(bucket.publishedEntries(of: Int.self, matching: "a.*"))

    #expect(await all.next(2).map(\.count) == [0, 51])
    #expect(await some.next(2).map(\.count) == [0, 50])
    #expect(all.updates.last?["b"] == 0 && some.updates.last?["a.7"] == 7)
    #expect(await bucket.put(1, for: "b").hasSucceeded())
    #expect(await all.next().map { $0["b"] } == [1])
    #expect(await bucket.delete("a.7").hasSucceeded())
    #expect(await all.next().map(\.count) == [50])
    #expect(await some.next().map { $0["a.7"] } == [nil])
    #expect(await nats.consumers(of: nats.stream("KV_prices")).contains(#""total":2"#))
    await nats.close()
  }

  @Test func `N8 a mirror of a stream has its messages and sequences`() async throws {
    let server = try await NATSServer.keeping()
    let far = NATSConnection(server.url)
    #expect(await far.stream("board").create().hasSucceeded())
    for number in 1...3 { #expect(await far.stream("board").append(number).hasSucceeded()) }
    var options = NATSStreamOptions()
    options.mirror = NATSMirror(of: "board")
    let mirror = far.stream("copy")
    #expect(await mirror.create(options).hasSucceeded())

    let reader = Recorder(mirror.broadcaster(of: Int.self, from: .beginning))
    #expect(await holds(reader.updates.map(\.payload) == [1, 2, 3]))
    #expect(await far.stream("board").append(4).hasSucceeded())
    #expect(await holds(reader.updates.last?.sequence == 4))
    let start = ContinuousClock.now
    #expect(
      await mirror.append(5, timeout: .seconds(600)).result == .failure(.invalidSubject("copy")))
    #expect(ContinuousClock.now - start < .seconds(300))
    await far.close()
  }

  @Test func `N9 an inbox prefix and the listed permissions are enough`() async throws {
    let server = try await NATSServer.keeping(
      """
      authorization { users: [
        { user: "app", password: "app", permissions: {
          publish: [
            "$JS.API.STREAM.CREATE.board", "$JS.API.STREAM.INFO.board", "$JS.API.STREAM.PURGE.board",
            "$JS.API.STREAM.MSG.GET.board", "$JS.API.CONSUMER.CREATE.board",
            "$JS.API.CONSUMER.DELETE.board.*", "$JS.ACK.board.>", "$JS.FC.board.>", "board",
            "$JS.API.CONSUMER.DURABLE.CREATE.board.billing", "$JS.API.CONSUMER.INFO.board.billing",
            "$JS.API.STREAM.CREATE.KV_config", "$JS.API.STREAM.INFO.KV_config",
            "$JS.API.STREAM.MSG.GET.KV_config", "$JS.API.CONSUMER.CREATE.KV_config",
            "$JS.API.CONSUMER.DELETE.KV_config.*", "$JS.ACK.KV_config.>", "$JS.FC.KV_config.>",
            "$KV.config.>", "quotes", "_MINIREX.cancel.quotes", "_APP.>" ],
          subscribe: [ "_APP.>", "_MINIREX.work.board.billing", "quotes", "_MINIREX.cancel.quotes" ]
        } } ] }
      """)
    var options = NATSOptions()
    options.credentials = .user("app", password: "app")
    options.inboxPrefix = "_APP"
    options.probeInterval = .milliseconds(100)
    let nats = NATSConnection(server.url, options: options)
    let diagnostics = Recorder(nats.diagnostics)
    let (bucket, stream) = (nats.bucket("config"), nats.stream("board"))

    #expect(await stream.create().hasSucceeded())
    #expect(await stream.append(1).hasSucceeded())
    let reader = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    let worker = Recorder(stream.work(of: Int.self, durable: "billing")) { $0.ack() }
    #expect(await reader.next().map(\.payload) == [1])
    #expect(await worker.next().map(\.payload) == [1])
    #expect(await stream.purge().hasSucceeded())
    #expect(await bucket.create().hasSucceeded())
    let values = Recorder(bucket.publishedValue(of: Int.self, for: "count"))
    #expect(await bucket.put(1, for: "count").hasSucceeded())
    #expect(await holds(values.updates.last == 1))
    let service = nats.reply(on: "quotes") { (number: Int) in
      PublishedTask<Int, Never> { finish in
        let timer = Task {
          try? await Task.sleep(for: .milliseconds(400))
          finish(.success(number + 1))
        }
        return Subscription { timer.cancel() }
      }
    }
    let quote = nats.request(Int.self, 1, on: "quotes", timeout: .seconds(20))
    #expect(await quote.result == .success(2))

    // A restart compares the stream with the last message.
    await server.stop()
    try await server.start()
    await nats.isEventually(.connected)
    #expect(await holds(await stream.append(2).hasSucceeded()))
    #expect(await reader.next().map(\.payload) == [2])
    #expect(await holds(await bucket.put(2, for: "count").hasSucceeded()))
    #expect(await holds(values.updates.last == 2))
    let refusals = diagnostics.updates.filter { diagnostic in
      if case .notPermitted = diagnostic { true } else { false }
    }
    #expect(refusals == [])
    withExtendedLifetime(service) {}
    await nats.close()
  }

  @Test(arguments: ["", "a b", "a.>", "a..b"])
  func `N9 an invalid inbox prefix closes the connection`(_ prefix: String) async throws {
    var options = NATSOptions()
    options.inboxPrefix = prefix
    let nats = NATSConnection(try Address().url, options: options)

    #expect(await nats.isEventually(.closed(.invalidOptions("inboxPrefix"))))
  }
}
#endif

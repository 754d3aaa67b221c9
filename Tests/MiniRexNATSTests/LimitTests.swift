#if NATS
import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexNATS

@Suite(.heavy)
struct LimitTests {
  @Test func `N3 a subject too long for a line is refused, and the connection stays`()
    async throws
  {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let (status, diagnostics) = (Recorder(nats.status), Recorder(nats.diagnostics))
    await nats.isEventually(.connected)
    let (long, half) = (String(repeating: "a", count: 4_033), String(repeating: "a", count: 2_017))

    #expect(throws: NATSError.subjectTooLong(4_033)) { try nats.publish("", on: long) }
    #expect(throws: NATSError.subjectTooLong(4_034)) {
      try nats.publish("", on: half, replySubject: half)
    }
    #expect(!Recorder(nats.broadcaster(of: Int.self, on: long)).isSubscribed)
    #expect(!Recorder(nats.broadcaster(of: Int.self, on: half, queue: half)).isSubscribed)
    let request = nats.request(Int.self, 1, on: String(long.dropLast(10)), timeout: .seconds(60))
    guard case .failure(.subjectTooLong)? = await request.result else {
      Issue.record("the request was sent")
      return
    }
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: String(long.dropLast())))
    try await nats.areSubscribed()
    try nats.publish(1, on: String(long.dropLast()))

    #expect(await recorder.next().first?.payload == 1)
    #expect(
      diagnostics.updates == [
        .notSubscribed(subject: long, .subjectTooLong(4_033)),
        .notSubscribed(subject: half, .subjectTooLong(4_034)),
      ])
    #expect(!status.updates.contains(.reconnecting))
    await nats.close()
  }

  @Test func `N4 a connection reconnects after the server refused a line`() async throws {
    let server = try await NATSServer("max_control_line: 1024")
    let nats = NATSConnection(server.url)
    let status = Recorder(nats.status)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    let diagnostics = Recorder(nats.diagnostics)
    await nats.isEventually(.connected)
    let long = String(repeating: "a", count: 3_000)

    let refused = Recorder(nats.broadcaster(of: Int.self, on: long))

    await until {
      diagnostics.updates.contains(.notSubscribed(subject: long, .subjectTooLong(3_000)))
    }
    await nats.makesRoundTrip(to: recorder)
    #expect(!status.updates.contains { if case .closed = $0 { true } else { false } })
    withExtendedLifetime(refused) {}
    await nats.close()
  }

  @Test func `N4 a connection reconnects after the server closed it with an error`() async throws {
    let server = try await NATSServer("max_payload: 1000")
    let proxy = try Proxy(to: server.address)
    let nats = NATSConnection(proxy.url)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    #expect(throws: NATSError.payloadTooLarge(1_000)) {
      try nats.publish(
        Data(count: 900), on: "a", headers: ["A": String(repeating: "a", count: 200)])
    }
    await nats.makesRoundTrip(to: recorder)
    await nats.close()
  }

  @Test func `N3 messages that a killed server had not confirmed are counted and reported`()
    async throws
  {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    for number in 0..<1_000 { try nats.publish(number, on: "numbers") }
    _ = await recorder.next(1_000)
    server.send(SIGSTOP)
    for number in 0..<500 { try nats.publish(number, on: "numbers") }

    await server.stop()
    await until { !diagnostics.updates.isEmpty }
    try await server.start()
    await nats.makesRoundTrip(to: recorder)

    let counts = diagnostics.updates.compactMap { diagnostic -> Int? in
      if case .possiblyLost(let count) = diagnostic { count } else { nil }
    }
    #expect(counts.count == 1)
    #expect(counts.allSatisfy { 500...1_500 ~= $0 })
    await nats.close()
  }

  @Test func `N3 each message published through a restart arrives or is counted`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    let status = Recorder(nats.status)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    var number = 0
    for _ in 0..<3 {
      let connected = status.updates.count { $0 == .connected }
      // Publishes before, during, and after the restart of the server.
      async let stopped: Void = server.stop()
      for _ in 0..<300 {
        try nats.publish(number, on: "numbers")
        number += 1
        try await Task.sleep(for: .milliseconds(1))
      }
      await stopped
      for _ in 0..<300 {
        try nats.publish(number, on: "numbers")
        number += 1
      }
      try await server.start()
      await until { status.updates.count { $0 == .connected } > connected }
    }
    try nats.publish(-1, on: "numbers")
    await until { recorder.updates.last?.payload == -1 }

    let received = Set(recorder.updates.map(\.payload)).count - 1
    let counted = diagnostics.updates.reduce(0) { sum, diagnostic in
      if case .possiblyLost(let count) = diagnostic { sum + count } else { sum }
    }
    #expect(received + counted >= number)
    #expect(
      recorder.updates.map(\.payload).dropLast().elementsEqual(
        recorder.updates.map(\.payload).dropLast().sorted()))
    await nats.close()
  }

  @Test func `N9 a negative timeout fails, and does not trap`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    await nats.isEventually(.connected)
    for timeout in [Duration.seconds(-1), .zero, .seconds(Int64.min)] {
      #expect(await nats.request(Int.self, 1, on: "x", timeout: timeout).result != nil)
      #expect(
        await nats.request(Int.self, 1, on: "x", timeout: timeout, clock: SuspendingClock()).result
          != nil)
      #expect(
        await nats.request(Int.self, progress: Int.self, 1, on: "x", timeout: timeout).result != nil
      )
      #expect(await stream.append(1, timeout: timeout).result != nil)
    }
    await nats.close()
  }

  @Test func `N3 requests beyond the limit are queued and answered`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.requestLimit = 1_000
    let (nats, other) = (NATSConnection(server.url), NATSConnection(server.url, options: options))
    let running = Shared((now: 0, most: 0))
    let hasAll = TaskSource<Void, Never>()
    let service = other.reply(on: "numbers") { (number: Int) in
      PublishedTask<Int, Never> { () async -> Int in
        running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        _ = await hasAll.publisher.result
        running.change { $0.now -= 1 }
        return number
      }
    }
    try await other.areSubscribed()
    let count = 3_000
    let (others, done) = (Shared<[String: Int]>([:]), Shared(0))
    let bag = SubscriptionBag()
    for number in 0..<count {
      nats.request(Int.self, number, on: "numbers", timeout: .seconds(600)).subscribe { result in
        if result != .success(number) { others.change { $0["\(result)", default: 0] += 1 } }
        done.increment()
      }.store(in: bag)
    }
    await until(other.core.services.count, patience: serverPatience) { $0 == count }
    await until(running.value.now, patience: serverPatience) { $0 == 1_000 }

    hasAll.finish(.success(()))

    await until(done.value, patience: serverPatience) { $0 == count }
    #expect(others.value == [:])
    #expect(running.value.most == 1_000)
    withExtendedLifetime(service) {}
    await nats.close()
    await other.close()
  }

  @Test func `N3 a full queue refuses requests, and a canceled request never starts`()
    async throws
  {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.requestLimit = 1
    options.receiveLimit = 2
    let (nats, other) = (NATSConnection(server.url), NATSConnection(server.url, options: options))
    let answers = TaskSource<Int, Never>()
    let begun = Recorder(other.broadcaster(of: Int.self, on: "begun"))
    let service = other.reply(on: "numbers") { (number: Int) in
      try? other.publish(number, on: "begun")
      return answers.publisher
    }
    try await other.areSubscribed()
    let results = Shared<[Int: NATSError?]>([:])
    var tokens: [Subscription] = []
    for number in 0..<4 {
      tokens.append(
        nats.request(Int.self, number, on: "numbers", timeout: .seconds(600)).subscribe { result in
          results.change {
            $0[number] = if case .failure(let error) = result { error } else { .some(nil) }
          }
        })
      // The limit drops more than two messages in flight. One request runs, and two are queued.
      await until(other.core.services.count) { $0 == min(number + 1, 3) }
    }
    await until { results.value.count == 1 }
    #expect(
      results.value == [3: .refused(code: 503, message: "Too many requests are in progress.")])
    tokens[1].invalidate()
    try await nats.areSubscribed()
    try await other.areSubscribed()
    answers.finish(.success(1))

    await until { results.value.count == 3 }
    await until { begun.updates.count == 2 }
    #expect(begun.updates.map(\.payload) == [0, 2])
    withExtendedLifetime((service, tokens)) {}
    await nats.close()
    await other.close()
  }
}
#endif

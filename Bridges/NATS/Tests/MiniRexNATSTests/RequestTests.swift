import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import Testing

@Suite(.timeLimit(.minutes(20)))
struct RequestTests {
  @Test func `N6 a reply comes once, to all subscribers of the request`() async throws {
    let server = try await NATSServer()
    let (asking, answering) = (NATSConnection(server.url), NATSConnection(server.url))
    let asked = Shared(0)
    let service = answering.reply(on: "double") { (number: Int) in
      asked.increment()
      return PublishedTask<Int, Never>.success(number * 2)
    }
    let second = answering.reply(on: "double") { (number: Int) in
      PublishedTask<Int, Never>.success(number * 2)
    }
    try await answering.areSubscribed()
    let request = asking.request(Int.self, 21, on: "double", timeout: .seconds(60))

    let (first, other) = (Recorder(request), Recorder(request))

    #expect(await first.next() == [.success(42)])
    #expect(await other.next() == [.success(42)])
    try await asking.areSubscribed()
    // The other one may have answered first.
    await until { asked.value == 1 }
    #expect(first.updates.count == 1)
    withExtendedLifetime((service, second)) {}
    await asking.close()
    await answering.close()
  }

  /// That nobody answers, the server says at once, and only to an inbox that it knows.
  @Test func `N6 each of the first requests, of several threads at once, is answered`() async throws
  {
    let server = try await NATSServer()
    let count = 4

    for _ in 0..<scaled(100) {
      let nats = NATSConnection(server.url)
      await nats.isEventually(.connected)
      let waiting = Shared(count)
      let recorders = Shared<[Recorder<Result<Int, NATSError>>]>([])
      await onQueue {
        onThreads(count) { number in
          let request = nats.request(Int.self, number, on: "nobody", timeout: .seconds(60))
          waiting.increment(by: -1)
          while waiting.value > 0 {}
          recorders.append(Recorder(request))
        }
      }
      for recorder in recorders.value {
        #expect(await recorder.next() == [.failure(.noResponders)])
      }
      await nats.close()
    }
  }

  @Test func `N6 all who are not of one group are asked, at the same time on one connection too`()
    async throws
  {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let (started, cancelled) = (Shared(0), Shared(0))
    let services = (0..<4).map { _ in
      nats.reply(on: "slow") { (_: Int) in endlessWork(started, cancelled) }
    }
    try await nats.areSubscribed()

    let token = nats.request(Int.self, 1, on: "slow", timeout: .seconds(600)).subscribe { _ in }
    await until { started.value == 4 }
    #expect(cancelled.value == 0)
    token.invalidate()

    await until { cancelled.value == 4 }
    #expect(cancelled.value == 4)
    withExtendedLifetime(services) {}
    await nats.close()
  }

  @Test func `N6 no responders fails at once`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let request = nats.request(Int.self, 1, on: "nobody", timeout: .seconds(600))

    #expect(await request.result == .failure(.noResponders))
    await nats.close()
  }

  @Test func `N6 a queue group shares the requests`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let asked = Shared(0)
    let services = (0..<3).map { _ in
      nats.reply(on: "double", queue: "doublers") { (number: Int) in
        asked.increment()
        return PublishedTask<Int, Never> { () async -> Int in number * 2 }
      }
    }
    for number in 0..<100 {
      let request = nats.request(Int.self, number, on: "double", timeout: .seconds(60))
      #expect(await request.result == .success(number * 2))
    }
    #expect(asked.value == 100)
    withExtendedLifetime(services) {}
    await nats.close()
  }

  @Test func `N6 a failure of the responder travels with its text`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let services = [
      nats.reply(on: "broken") { (_: Int) in PublishedTask<Int, Broken>.failure(Broken()) },
      nats.reply(on: "refused") { (_: Int) in
        PublishedTask<Int, NATSError>.failure(.refused(code: 404, message: "no such\nquote"))
      },
      nats.reply(on: "endless") { (_: Int) in TaskSource<Int, Never>().publisher },
      nats.reply(on: "large") { (_: Int) in
        PublishedTask<Data, Never>.success(Data(count: 2 << 20))
      },
    ]
    func ask(_ subject: String) async -> Result<Int, NATSError>? {
      let request = nats.request(Int.self, 1, on: subject, timeout: .seconds(60))
      return await request.result
    }

    #expect(await ask("broken") == .failure(.refused(code: 500, message: "Broken()")))
    #expect(await ask("refused") == .failure(.refused(code: 404, message: "no such quote")))
    guard case .failure(.refused(500, _)) = await ask("endless") else {
      Issue.record("a task without a result")
      return
    }
    guard case .failure(.refused(500, _)) = await ask("large") else {
      Issue.record("an answer that is too large")
      return
    }
    let text = await nats.request(Int.self, "no number", on: "broken", timeout: .seconds(60)).result
    guard case .failure(.refused(400, _)) = text else {
      Issue.record("a request that is none")
      return
    }
    withExtendedLifetime(services) {}
    await nats.close()
  }

  @Test func `N6 the time of a request is up once, and cancels it`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let (started, cancelled) = (Shared(0), Shared(0))
    let service = nats.reply(on: "slow") { (_: Int) in endlessWork(started, cancelled) }
    try await nats.areSubscribed()
    let clock = ManualClock()
    let request = Recorder(
      nats.request(Int.self, 1, on: "slow", timeout: .seconds(2), clock: clock))
    await until { started.value == 1 }
    await clock.advance(by: .seconds(2))

    #expect(request.updates == [.failure(.timedOut)])
    await until { cancelled.value == 1 }
    withExtendedLifetime(service) {}
    await nats.close()
  }

  @Test func `N6 the last subscriber who leaves cancels the responder's task`() async throws {
    let server = try await NATSServer()
    let (asking, answering) = (NATSConnection(server.url), NATSConnection(server.url))
    let (started, cancelled) = (Shared(0), Shared(0))
    let services = [
      answering.reply(on: "plain") { (_: Int) in endlessWork(started, cancelled) },
      answering.reply(on: "progressive.*", progress: Int.self) { (_: Int) in
        ProgressiveTask<Int, Int, Never> { report in
          report(1)
          started.increment()
          await untilCancelled()
          cancelled.increment()
          return 0
        }
      },
    ]
    try await answering.areSubscribed()
    let plain = asking.request(Int.self, 1, on: "plain", timeout: .seconds(600))
    let progressive = asking.request(
      Int.self, progress: Int.self, 1, on: "progressive.one", timeout: .seconds(600))

    let (first, second) = (plain.subscribe { _ in }, plain.subscribe { _ in })
    let third = Recorder(progressive)
    #expect(await third.next() == [.progress(1)])
    await until { started.value == 2 }
    first.invalidate()
    try await asking.areSubscribed()
    try await answering.areSubscribed()
    #expect(cancelled.value == 0)
    second.invalidate()
    await until { cancelled.value == 1 }
    third.invalidate()
    await until { cancelled.value == 2 }

    #expect(cancelled.value == 2)
    withExtendedLifetime(services) {}
    await asking.close()
    await answering.close()
  }

  @Test
  func `N6 a requester whose process is killed cancels the responder's task within two intervals`()
    async throws
  {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.probeInterval = .milliseconds(200)
    let nats = NATSConnection(server.url, options: options)
    let (started, cancelled) = (Shared(0), Shared(0))
    let service = nats.reply(on: "slow") { (_: String) in endlessWork(started, cancelled) }
    try await nats.areSubscribed()
    let guest = try Guest("request", server.url, "slow")
    await until { started.value == 1 }
    try await Task.sleep(for: .milliseconds(700))
    #expect(cancelled.value == 0)

    guest.kill()

    await until { cancelled.value == 1 }
    #expect(cancelled.value == 1)
    withExtendedLifetime(service) {}
    await nats.close()
  }

  @Test func `N6 a lost word that the requester has left is found out by asking`() async throws {
    let server = try await NATSServer(
      """
      authorization { users: [
        { user: a, password: b, permissions: { publish: { deny: "_MINIREX.>" } } },
        { user: c, password: d } ] }
      """)
    var options = NATSOptions()
    options.probeInterval = .milliseconds(50)
    options.credentials = .user("c", password: "d")
    let answering = NATSConnection(server.url, options: options)
    options.credentials = .user("a", password: "b")
    let asking = NATSConnection(server.url, options: options)
    let (started, cancelled) = (Shared(0), Shared(0))
    let service = answering.reply(on: "slow") { (_: Int) in endlessWork(started, cancelled) }
    try await answering.areSubscribed()
    let token = asking.request(Int.self, 1, on: "slow", timeout: .seconds(600)).subscribe { _ in }
    await until { started.value == 1 }

    token.invalidate()

    await until { cancelled.value == 1 }
    #expect(cancelled.value == 1)
    withExtendedLifetime(service) {}
    await asking.close()
    await answering.close()
  }

  @Test func `N6 progress comes in order before the result`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let service = nats.reply(on: "count", progress: Int.self) { (limit: Int) in
      ProgressiveTask<Int, String, Never> { report in
        for number in 0..<limit { report(number) }
        return "done"
      }
    }
    try await nats.areSubscribed()
    let request = Recorder(
      nats.request(String.self, progress: Int.self, 100, on: "count", timeout: .seconds(60)))

    let updates = await request.next(101)

    #expect(updates == (0..<100).map { .progress($0) } + [.finished(.success("done"))])
    #expect(
      await nats.request(String.self, 3, on: "count", timeout: .seconds(60)).result
        == .success("done"))
    withExtendedLifetime(service) {}
    await nats.close()
  }

  @Test func `N4 a request in flight fails once when the connection is lost`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let (started, cancelled) = (Shared(0), Shared(0))
    let service = nats.reply(on: "slow") { (_: Int) in endlessWork(started, cancelled) }
    try await nats.areSubscribed()
    let request = Recorder(nats.request(Int.self, 1, on: "slow", timeout: .seconds(600)))
    await until { started.value == 1 }

    await server.stop()

    #expect(await request.next() == [.failure(.disconnected)])
    try await server.start()
    await nats.isEventually(.connected)
    try await nats.areSubscribed()
    #expect(request.updates.count == 1)
    withExtendedLifetime(service) {}
    await nats.close()
    await until { cancelled.value == 1 }
  }

  @Test func `N6 a responder that is killed during a request fails it by its timeout, once`()
    async throws
  {
    let server = try await NATSServer()
    let asking = NATSConnection(server.url)
    let told = Recorder(asking.broadcaster(of: String.self, on: "told"))
    try await asking.areSubscribed()
    let guest = try Guest("reply", server.url, "slow", "told")
    #expect(await told.next().first?.payload == "ready")
    let clock = ManualClock()
    let request = Recorder(
      asking.request(Int.self, 1, on: "slow", timeout: .seconds(2), clock: clock))
    #expect(await told.next().first?.payload == "asked")

    guest.kill()
    #expect(await guest.status() == -SIGKILL)
    await clock.advance(by: .seconds(2))

    #expect(request.updates == [.failure(.timedOut)])
    // The server may find out a little later than the process has gone.
    await until(
      await asking.request(Int.self, 1, on: "slow", timeout: .milliseconds(200)).result
        == .failure(.noResponders))
    await asking.close()
  }

  @Test func `N3 more requests at a time than may be are refused`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.requestLimit = 2
    let nats = NATSConnection(server.url, options: options)
    let (started, cancelled) = (Shared(0), Shared(0))
    let service = nats.reply(on: "slow") { (_: Int) in endlessWork(started, cancelled) }
    try await nats.areSubscribed()
    let requests = (0..<2).map { number in
      Recorder(nats.request(Int.self, number, on: "slow", timeout: .seconds(600)))
    }
    await until { started.value == 2 }

    let third = await nats.request(Int.self, 3, on: "slow", timeout: .seconds(60)).result

    guard case .failure(.refused(503, _)) = third else {
      Issue.record("\(third as Any)")
      return
    }
    withExtendedLifetime((service, requests)) {}
    await nats.close()
  }
}

private struct Broken: Error {}

private func untilCancelled() async {
  while !Task.isCancelled { try? await Task.sleep(for: .seconds(600)) }
}

private func endlessWork(_ started: Shared<Int>, _ cancelled: Shared<Int>) -> PublishedTask<
  Int, Never
> {
  PublishedTask<Int, Never> { () async -> Int in
    started.increment()
    await untilCancelled()
    cancelled.increment()
    return 0
  }
}

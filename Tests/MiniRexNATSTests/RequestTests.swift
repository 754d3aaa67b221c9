#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct RequestTests {
  @Test func `N6 all subscribers of a request receive its one reply`() async throws {
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
    // The other responder may have answered first.
    await until { asked.value == 1 }
    #expect(first.updates.count == 1)
    withExtendedLifetime((service, second)) {}
    await asking.close()
    await answering.close()
  }

  /// The server reports missing responders immediately, and only to an inbox that it knows.
  @Test func `N6 the first requests of concurrent threads are all answered`() async throws {
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

  @Test func `N6 responders without a group all receive a request, on one connection as well`()
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

  @Test func `N6 a request without responders fails immediately`() async throws {
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

  @Test func `N6 a failure of the responder keeps its message`() async throws {
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

  @Test func `N6 a timeout fails a request once and cancels it`() async throws {
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

  @Test func `N6 the last cancellation cancels the responder's task`() async throws {
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
  func `N6 killing the requester cancels the responder's task within two intervals`()
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

  @Test func `N6 a probe finds a canceled request whose cancellation was lost`() async throws {
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
    let tokens = (0..<3).map { _ in
      asking.request(Int.self, 1, on: "slow", timeout: .seconds(600)).subscribe { _ in }
    }
    await until { started.value == 3 }

    tokens[1].invalidate()

    await until { cancelled.value == 1 }
    try await Task.sleep(for: .milliseconds(200))
    #expect(cancelled.value == 1)
    withExtendedLifetime((service, tokens)) {}
    await asking.close()
    await answering.close()
  }

  @Test func `N6 progress arrives once and in order while other callbacks block`() async throws {
    let server = try await NATSServer()
    let (asking, answering) = (NATSConnection(server.url), NATSConnection(server.url))
    let service = answering.reply(on: "count", progress: Int.self) { (limit: Int) in
      ProgressiveTask<Int, String, any Error> { report in
        for number in 0..<limit {
          report(number)
          try await Task.sleep(for: .milliseconds(1))
        }
        return "done"
      }
    }
    let echo = answering.reply(on: "echo") { (number: Int) in
      PublishedTask<Int, Never>.success(number)
    }
    try await answering.areSubscribed()
    let request = Recorder(
      asking.request(String.self, progress: Int.self, 200, on: "count", timeout: .seconds(60)))
    #expect(await request.next().first == .progress(0))
    let bag = SubscriptionBag()
    for _ in 0..<5 {
      // The inbox subscribes again for the request after a callback that blocks.
      let isBlocked = Shared(false)
      asking.request(Int.self, 1, on: "echo", timeout: .seconds(60)).subscribe { _ in
        isBlocked.value = true
        Thread.sleep(forTimeInterval: 0.03)
      }.store(in: bag)
      await until { isBlocked.value }
      try await Task.sleep(for: .milliseconds(15))
      #expect(await asking.request(Int.self, 2, on: "echo", timeout: .seconds(60)).hasSucceeded())
    }

    while request.updates.last.map({ if case .finished = $0 { false } else { true } }) ?? true {
      try await Task.sleep(for: .milliseconds(1))
    }

    #expect(request.updates == (0..<200).map { .progress($0) } + [.finished(.success("done"))])
    withExtendedLifetime((service, echo)) {}
    await asking.close()
    await answering.close()
  }

  @Test func `N6 progress arrives in order before the result`() async throws {
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

  @Test func `N6 killing the responder fails its request once, by the timeout`()
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
    // The server may notice the end of the process a little later.
    await until(
      await asking.request(Int.self, 1, on: "slow", timeout: .milliseconds(200)).result
        == .failure(.noResponders))
    await asking.close()
  }

  @Test func `N3 a request beyond the limit is queued, and the next is refused`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.requestLimit = 2
    options.receiveLimit = 1
    let nats = NATSConnection(server.url, options: options)
    let (started, cancelled) = (Shared(0), Shared(0))
    let service = nats.reply(on: "slow") { (_: Int) in endlessWork(started, cancelled) }
    try await nats.areSubscribed()
    var requests: [Subscription] = []
    for number in 0..<2 {
      requests.append(
        nats.request(Int.self, number, on: "slow", timeout: .seconds(600)).subscribe { _ in })
      await until { started.value == number + 1 }
    }
    requests.append(
      nats.request(Int.self, 2, on: "slow", timeout: .seconds(600)).subscribe { _ in })
    try await nats.areSubscribed()

    // The second message may arrive before the first is taken.
    let refusal = Shared<NATSError?>(nil)
    while refusal.value == nil, !Task.isCancelled {
      let result = await nats.request(Int.self, 3, on: "slow", timeout: .milliseconds(500)).result
      if case .failure(let error)? = result, error != .timedOut { refusal.value = error }
    }

    guard case .refused(503, _)? = refusal.value else {
      Issue.record("\(refusal.value as Any)")
      return
    }
    #expect(started.value == 2)
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
#endif

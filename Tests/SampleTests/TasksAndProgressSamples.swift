import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private struct User: Sendable, Equatable {
  let name: String
}

private struct Picture: Sendable, Equatable {
  static let placeholder = Picture(of: "nobody")
  let owner: String

  init(of owner: String) { self.owner = owner }
}

private struct FetchError: Error, Equatable {
  static let notFound = FetchError(code: 404)
  var code = 500
}

private func fetch(_ id: Int) async throws(FetchError) -> User {
  if id != 7 { throw FetchError() }
  return User(name: "Ada")
}

private func fetchMe() async throws(FetchError) -> User {
  try await fetch(7)
}

private func fetchFriends() async throws(FetchError) -> [User] {
  [User(name: "Grace")]
}

private func loadPicture(of user: User) -> PublishedTask<Picture, FetchError> {
  .failure(FetchError())
}

private func copy(_ file: Int) async {
  await Task.yield()
}

private struct Request {
  init(of id: Int, _ finish: @Sendable (Result<User, FetchError>) -> Void) {
    finish(.success(User(name: "\(id)")))
  }

  func cancel() {}
}

@Suite(.light) struct TasksAndProgressSamples {
  private let clock = ManualClock()
  private let user = PublishedTask { () async throws(FetchError) in try await fetch(7) }

  @Test func `work runs for its subscribers`() async throws {
    let user = PublishedTask { () async throws(FetchError) in try await fetch(7) }
    let name = user.map(\.name)

    let greeting = try await name.map { "Hello, \($0)" }.value
    #expect(greeting == "Hello, Ada")
  }

  @Test func `work may continue without subscribers`() async {
    let saves = TaskSource<String, Never>()
    let save: @Sendable (String) async -> Void = { saves.finish(.success($0)) }

    let saved = PublishedTask(.keepsRunning) { await save("draft") }

    saved.subscribe { _ in }.invalidate()
    #expect(await saves.publisher.result == .success("draft"))
  }

  @Test func `two spellings preserve the failure type`() async throws {
    let fetched = PublishedTask(fetchMe)
    let written = PublishedTask { () async throws(FetchError) in try await fetchMe() }
    let vague = PublishedTask { try await fetchMe() }  // fails with any Error

    let tasks: [PublishedTask<User, FetchError>] = [fetched, written]
    for task in tasks { #expect(await task.result == .success(User(name: "Ada"))) }
    let other: PublishedTask<User, any Error> = vague
    let found = try await other.value
    #expect(found.name == "Ada")
  }

  @Test func `a callback API becomes a task`() async {
    let loaded = PublishedTask<User, FetchError> { finish in
      let request = Request(of: 7) { finish($0) }
      return Subscription { request.cancel() }
    }

    #expect(await loaded.result == .success(User(name: "7")))
  }

  @Test func `progress comes before the result`() async {
    let copied = ProgressiveTask<Double, Int, Never> { report in
      for file in 1...4 {
        await copy(file)
        report(Double(file) / 4)
      }
      return 4
    }

    let recorder = Recorder(copied)
    let updates = await recorder.next(5)
    #expect(updates.first == .progress(0.25))
    #expect(updates.last == .finished(.success(4)))
  }

  @Test func `a second result is refused`() {
    let answer = TaskSource<Int, Never>()
    answer.finish(.success(42))  // true: accepted
    answer.finish(.success(43))  // false: refused
    #expect(Recorder(answer.publisher).updates == [.success(42)])
    #expect(!answer.finish(.success(44)))
  }

  @Test func `recover continues after a failure`() async {
    let avatar =
      user
      .flatMap { user in loadPicture(of: user) }
      .recover { _ in .success(Picture.placeholder) }

    let result: Result<Picture, Never>? = await avatar.result
    #expect(result == .success(.placeholder))
  }

  @Test func `retrying returns the first success`() async {
    let patient = PublishedTask.retrying(
      times: 3, delay: .exponential(from: .milliseconds(100), upTo: .seconds(5), jitter: 1),
      clock: clock,
      while: { $0 != .notFound }
    ) { () async throws(FetchError) in
      try await fetch(7)
    }

    #expect(await patient.result == .success(User(name: "Ada")))
  }

  @Test func `timeout fails after its interval`() {
    let user: PublishedTask<User, FetchError> = .never
    let prompt = user.timeout(after: .seconds(5), clock: clock)

    let recorder = Recorder(prompt)
    clock.advance(by: .seconds(5))
    #expect(recorder.updates == [.failure(.timedOut)])
  }

  @Test func `first of a published value is a task`() async {
    let temperature = PublishedProperty(21.5)
    let warm = await temperature.publisher.first { $0 > 20 }.result
    #expect(warm == .success(21.5))
  }

  @Test func `all of several give a tuple`() async throws {
    let both = all(user, PublishedTask(fetchFriends))
    let (me, friends) = try await both.value
    #expect(me.name == "Ada")
    #expect(friends == [User(name: "Grace")])
  }

  @Test func `progress adds up by weight`() {
    let small = ProgressiveTask.sequence([0.5], Result<Int, Never>.success(1))
    let source = ProgressiveTaskSource<Double, Int, Never>()
    let large = source.publisher

    let whole = all(small, large, weights: [1, 3])

    let latest = BroadcastSource<Double>()
    let recorder = Recorder(latest.publisher)
    let subscription = whole.subscribe(
      success: nil, failure: nil, progress: { latest.broadcast($0) })
    source.report(0.5)
    #expect(recorder.updates.last == 0.625)
    withExtendedLifetime(subscription) {}
  }

  @Test func `constants replace tasks`() {
    let loading: PublishedTask<User, FetchError> = .never
    let offline: PublishedTask<User, FetchError> = .failure(FetchError())
    let halfway: ProgressiveTask<Double, User, FetchError> =
      .sequence([0.5], .success(User(name: "Ada")), every: .seconds(1), clock: clock)

    #expect(Recorder(loading).updates.isEmpty)
    #expect(Recorder(offline).updates == [.failure(FetchError())])
    let recorder = Recorder(halfway)
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [.progress(0.5)])
  }
}

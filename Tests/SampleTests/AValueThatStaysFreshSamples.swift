import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of AValueThatStaysFresh.md.
@Suite(.light) struct AValueThatStaysFreshSamples {
  let clock = ManualClock()
  let paper = Paper()

  func print(_ line: String) { paper.print(line) }

  func fetchRates() async throws -> [String: Int] { ["USD": 109] }

  @Test func `a subscriber receives the state of the load`() async throws {
    let rates = Resource(staleAfter: .seconds(60), refreshEvery: .seconds(30), clock: clock) {
      try await fetchRates()
    }
    let subscription = rates.publisher.subscribe { state in
      print("\(state.value?["USD"] ?? 0) \(state.isLoading ? "loading" : "loaded")")
    }
    #expect(try await rates.value() == ["USD": 109])
    await until { paper.lines.count == 2 }

    #expect(paper.lines == ["0 loading", "109 loaded"])
    withExtendedLifetime(subscription) {}
  }

  struct Token: Sendable {
    let keyID: String
    let signature: Int
  }

  struct PublicKey: Sendable {
    let secret: Int

    func verifies(_ token: Token) -> Bool { token.signature == secret }
  }

  final class TokenVerifier: Sendable {
    private let keys: Resource<[String: PublicKey], any Error>

    init(
      clock: any Clock<Duration> = ContinuousClock(),
      fetchKeys: @escaping @Sendable () async throws -> [String: PublicKey]
    ) {
      keys = Resource(staleAfter: .seconds(600), retries: 3, clock: clock, fetchKeys)
    }

    func verify(_ token: Token) async throws -> Bool {
      if let key = try await keys.value()[token.keyID] { return key.verifies(token) }
      // The keys have rotated, or the token is forged.
      return try await keys.value(maxAge: .seconds(10))[token.keyID]?.verifies(token) ?? false
    }
  }

  @Test func `a server finds rotated keys, and forged tokens do not flood the provider`()
    async throws
  {
    let requests = Shared(0)
    let present = Shared(["old": PublicKey(secret: 1)])
    let verifier = TokenVerifier(clock: clock) {
      requests.increment()
      return present.value
    }
    #expect(try await verifier.verify(Token(keyID: "old", signature: 1)))
    #expect(try await !verifier.verify(Token(keyID: "forged", signature: 1)))
    #expect(requests.value == 1)

    present.value = ["new": PublicKey(secret: 2)]
    await clock.advance(by: .seconds(11))
    #expect(try await verifier.verify(Token(keyID: "new", signature: 2)))
    for number in 0..<100 {
      #expect(try await !verifier.verify(Token(keyID: "\(number)", signature: 2)))
    }
    #expect(requests.value == 2)
  }

  struct Profile: Equatable, Sendable {
    let name: String
  }

  struct Server: Sendable {
    struct Offline: Error {}

    let name = Shared("Ada")
    let isOffline = Shared(false)

    func profile(_ id: Int) async throws -> Profile {
      if isOffline.value { throw Offline() }
      return Profile(name: name.value)
    }

    func rename(to name: String) async throws {
      if isOffline.value { throw Offline() }
      self.name.value = name
    }
  }

  let server = Server()

  func title(of profile: Resource<Profile, any Error>) -> PublishedValue<String> {
    profile.publisher.map { state in
      switch (state.value, state.failure) {
      case (let profile?, nil): profile.name
      case (let profile?, _?): "\(profile.name) (offline)"
      case (nil, _?): "Not available"
      case (nil, nil): "Loading"
      }
    }
  }

  func rename(_ profile: Resource<Profile, any Error>, to name: String) async throws {
    let old = profile.state.value
    profile.set(Profile(name: name))
    do {
      try await server.rename(to: name)
    } catch {
      if let old { profile.set(old) } else { profile.invalidate() }
      throw error
    }
  }

  @Test func `a screen shows a profile, and an optimistic change`() async throws {
    let profile = Resource(staleAfter: .seconds(60), clock: clock) { [server] in
      try await server.profile(1)
    }
    let titles = Recorder(title(of: profile))
    #expect(await titles.next(2) == ["Loading", "Ada"])
    try await rename(profile, to: "Grace")
    #expect(await titles.next() == ["Grace"])

    server.isOffline.value = true
    await #expect(throws: Server.Offline.self) { try await rename(profile, to: "Lin") }
    #expect(await titles.next(2) == ["Lin", "Grace"])
    profile.refresh()
    #expect(await titles.next() == ["Grace (offline)"])
  }

  @Test func `a family has one profile per user`() async throws {
    let profiles = ResourceFamily(
      staleAfter: .seconds(60), keepingUnused: .seconds(300), limit: 100, clock: clock
    ) { (id: Int) in
      try await server.profile(id)
    }
    let first = try await profiles[1].value()
    profiles.invalidate { $0 == 1 }
    #expect(first.name == "Ada")
    #expect(profiles[1].state.value == nil)
  }

  struct Settings: Equatable, Sendable {
    let size: Int
  }

  struct SettingsFile: Sendable {
    let stored: Shared<Settings?>

    func read() -> Settings? { stored.value }

    func write(_ settings: Settings) { stored.value = settings }
  }

  func open(_ settings: Resource<Settings, any Error>, from file: SettingsFile) -> Subscription {
    if let stored = file.read() { settings.set(stored) }
    settings.refresh()
    return settings.publisher.map { $0.value }.subscribe { value in
      if let value { file.write(value) }
    }
  }

  @Test func `a program that starts offline shows the stored value`() async throws {
    let backend = Backend()
    let file = SettingsFile(stored: Shared(Settings(size: 1)))
    let settings = Resource(clock: clock) { Settings(size: try await backend.load()) }
    let subscription = open(settings, from: file)
    #expect(settings.state.value == Settings(size: 1))
    backend.answer(1, 2)
    await until { file.read() == Settings(size: 2) }
    withExtendedLifetime(subscription) {}
  }

  @Test func `a test counts the requests`() async throws {
    let requests = Shared(0)
    let keys = Resource<Int, any Error>(staleAfter: .seconds(600), clock: clock) {
      requests.increment()
    }
    #expect(try await keys.value() == 1)
    await clock.advance(by: .seconds(599))
    #expect(try await keys.value() == 1)
    #expect(requests.value == 1)
  }
}

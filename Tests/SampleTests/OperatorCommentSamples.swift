import MiniRex
import MiniRexTesting
import Testing

private struct User: Sendable, Equatable {
  let name: String
}

private struct Picture: Sendable, Equatable {
  static let placeholder = Picture(of: "nobody")
  let owner: String

  init(of owner: String) { self.owner = owner }
}

private struct FetchError: Error, Equatable {}

private func fetch(_ id: Int) async throws(FetchError) -> User {
  User(name: "\(id)")
}

private func loadPicture(of user: User) -> PublishedTask<Picture, FetchError> {
  .failure(FetchError())
}

private func search(for text: String) -> PublishedTask<Int, Never> {
  .success(text.count)
}

private struct Click: Sendable {
  let position: Int
}

private struct Document: Sendable {
  let title: PublishedValue<String>
}

/// The samples in comments of operators and tasks.
@Suite struct OperatorCommentSamples {
  private let paper = Paper()
  private let clock = ManualClock()

  @Test func `operators keep time`() {
    let searchText = PublishedProperty("a").publisher
    let doorbell = Broadcaster.sequence([1])
    let position = PublishedProperty(1).publisher

    let calm = searchText.debounce(for: .milliseconds(300), clock: clock)
    let late = doorbell.delay(for: .seconds(2), clock: clock)
    let frames = position.throttle(for: .milliseconds(16), clock: clock)

    let rings = Recorder(late)
    #expect(calm.current() == "a" && frames.current() == 1 && rings.updates == [])
    clock.advance(by: .seconds(2))
    #expect(rings.updates == [1])
  }

  @Test func `operators follow what came last`() {
    let texts = BroadcastSource<String>()
    let searchText = texts.publisher
    let results = searchText.flatMapLatest { text in search(for: text) }
    let found = Recorder(results.map { $0.get() })
    texts.broadcast("cat")
    #expect(found.updates == [3])

    let document = Document(title: .constant("Letters"))
    let selectedDocument = PublishedValue.constant(document)
    let title = selectedDocument.flatMapLatest { $0.title }
    #expect(title.current() == "Letters")
  }

  @Test func `operators join several`() {
    let taps = BroadcastSource<Int>()
    pair(taps.publisher, with: PublishedProperty("hello").publisher)
    taps.broadcast(7)
    #expect(paper.lines == ["hello at 7"])

    let keys = BroadcastSource<String>()
    let clicks = BroadcastSource<Int>()
    let commands = merge(keys.publisher, clicks.publisher.map { "click at \($0)" })
    let recorder = Recorder(commands)
    keys.broadcast("q")
    clicks.broadcast(3)
    #expect(recorder.updates == ["q", "click at 3"])
  }

  private func pair(_ taps: Broadcaster<Int>, with text: PublishedValue<String>) {
    let lines = taps.withLatest(from: text).map { tap, text in "\(text) at \(tap)" }
    lines.subscribe { [paper] in paper.print($0) }.detached()
  }

  @Test func `values are combined`() {
    let print = paper.print
    let width = PublishedProperty(2)
    let height = PublishedProperty(3)

    let size = combineLatest(width.publisher, height.publisher)
    let subscription = size.subscribe { print("\($0) × \($1)") }  // prints 2 × 3
    width.value = 4  // prints 4 × 3

    let area = combineLatest(width.publisher, height.publisher) { $0 * $1 }
    #expect(paper.lines == ["2 × 3", "4 × 3"])
    #expect(area.current() == 12)
    subscription.invalidate()
  }

  @Test func `numbers are added up`() {
    let print: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let numbers = BroadcastSource<Int>()

    let sums = numbers.publisher.scan(0) { sum, number in sum + number }
    let subscription = sums.subscribe { print($0) }
    numbers.broadcast(1)  // prints 1
    numbers.broadcast(2)  // prints 3

    #expect(paper.lines == ["1", "3"])
    subscription.invalidate()
  }

  @Test func `a chain is traced`() {
    let show: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let source = BroadcastSource<Click>()
    let clicks = source.publisher
    let positions = clicks.trace("clicks").map(\.position).trace("positions")
    let subscription = positions.subscribe { show($0) }
    source.broadcast(Click(position: 5))
    #expect(paper.lines == ["5"])
    subscription.invalidate()
  }

  @Test func `work is done, and tried again`() async throws {
    let id = 7
    do {
      let user = PublishedTask { () async throws(FetchError) in try await fetch(id) }
      #expect(try await user.value == User(name: "7"))
    }
    do {
      let user = PublishedTask.retrying(
        times: 3, delay: .exponential(from: .milliseconds(100), upTo: .seconds(5), jitter: 0.5)
      ) { () async throws(FetchError) in
        try await fetch(id)
      }
      #expect(try await user.value == User(name: "7"))
    }
  }

  @Test func `a task is given up when the time is up`() async throws {
    let fetch = PublishedTask<User, FetchError>.success(User(name: "7"))
    let user = fetch.timeout(after: .seconds(5), clock: clock)
    #expect(try await user.value == User(name: "7"))
  }

  @Test func `one task follows another`() async {
    let user = PublishedTask<User, FetchError>.success(User(name: "Ada"))

    let picture = user.flatMap { user in loadPicture(of: user) }
    let shown = picture.recover { _ in .success(Picture.placeholder) }

    #expect(await picture.result == .failure(FetchError()))
    #expect(await shown.result == .success(Picture.placeholder))
  }

  @Test func `several tasks are one`() async throws {
    let user = PublishedTask<User, FetchError>.success(User(name: "Ada"))
    let users = PublishedTask<[User], FetchError>.success([User(name: "Grace")])

    let (me, friends) = try await all(user, users).value
    #expect(me.name == "Ada" && friends.count == 1)

    let sources = [ProgressiveTaskSource<Double, Int, Never>(), ProgressiveTaskSource()]
    let parts = sources.map(\.publisher)
    let whole = all(parts, weights: [1, 3])  // the second part counts three times as much
    let recorder = Recorder(whole)
    sources[1].report(1)
    #expect(recorder.updates == [.progress(0.75)])
  }
}

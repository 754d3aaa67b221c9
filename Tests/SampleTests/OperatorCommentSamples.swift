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

private struct Door: Sendable {
  let visitors: Broadcaster<String>
}

private struct Document: Sendable {
  let title: PublishedValue<String>
}

/// The samples in comments of operators and tasks.
@Suite(.light) struct OperatorCommentSamples {
  private let paper = Paper()
  private let clock = ManualClock()

  @Test func `timed operators run on a manual clock`() {
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

  @Test func `progress is throttled and followed without the result`() {
    let source = ProgressiveTaskSource<Double, Int, FetchError>()
    let download = source.publisher
    let show: @Sendable (Double) -> Void = { [paper] in paper.print("\($0)") }

    let shown = download.throttleProgress(for: .milliseconds(100), clock: clock)
    let bar = download.subscribe(failure: nil) { show($0) }

    let recorder = Recorder(shown)
    source.report(0.1)
    source.report(0.2)
    #expect(paper.lines == ["0.1", "0.2"] && recorder.updates == [.progress(0.1)])
    withExtendedLifetime(bar) {}
  }

  @Test func `a shared sensor outlasts its last subscriber`() {
    let starts = PublishedProperty(0)
    let sensor = Broadcaster<Int> { receive in
      starts.modify { $0 += 1 }
      return Subscription { withExtendedLifetime(receive) {} }
    }

    let position = sensor.share(for: .seconds(5), clock: clock)

    Recorder(position).invalidate()
    clock.advance(by: .seconds(4))
    Recorder(position).invalidate()
    #expect(starts.value == 1)
    // Ends the work, which a pending timer retains.
    clock.advance(by: .seconds(5))
  }

  @MainActor @Test func `an optional property is bound`() {
    final class Label { var text: String? }
    let label = Label()
    let name = PublishedProperty("Rex").publisher

    let binding = name.bindOnMain(to: label, \.text)

    #expect(label.text == "Rex")
    withExtendedLifetime(binding) {}
  }

  @Test func `flatMap runs several publishers concurrently`() {
    let addresses = BroadcastSource<String>()
    let load: @Sendable (String) -> PublishedTask<Picture, Never> = { .success(Picture(of: $0)) }

    let pictures = addresses.publisher.flatMap(limit: 4) { address in load(address) }

    let recorder = Recorder(pictures)
    addresses.broadcast("Ada")
    #expect(recorder.updates == [.success(Picture(of: "Ada"))])
  }

  @Test func `switching operators emit the updates of the latest publisher`() {
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

  @Test func `merge and combineLatest join several publishers`() {
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

  @Test func `prefix and drop wait for a signal`() {
    let positions = BroadcastSource<Int>()
    let releases = BroadcastSource<Void>()
    let dragged = Recorder(drag(positions.publisher, until: releases.publisher))
    positions.broadcast(1)
    releases.broadcast(())
    #expect(dragged.updates == [1] && dragged.hasEnded)

    let logins = BroadcastSource<String>()
    let console = BroadcastSource<String>()
    let shown = Recorder(read(console.publisher, from: logins.publisher))
    console.broadcast("password?")
    logins.broadcast("ada")
    console.broadcast("$ ls")
    #expect(shown.updates == ["$ ls"])
  }

  private func drag(
    _ positions: Broadcaster<Int>, until releases: Broadcaster<Void>
  ) -> Broadcaster<Int> {
    let drag = positions.prefix(until: releases)
    return drag
  }

  private func read(
    _ console: Broadcaster<String>, from logins: Broadcaster<String>
  ) -> Broadcaster<String> {
    let lines = console.drop(until: logins)
    return lines
  }

  @Test func `chunked collects several updates`() {
    let insert: @Sendable ([Int]) -> Int = { $0.count }
    let readings = Broadcaster.sequence(Array(1...150))
    let rows = readings.chunked(by: 100).map { insert($0) }
    #expect(Recorder(rows).updates == [100, 50])

    let log = Broadcaster.sequence(["a", "b"])
    let lines = log.chunked(every: .seconds(1), clock: clock)
    #expect(Recorder(lines).updates == [["a", "b"]])

    let events = readings
    let batches = events.chunked(by: 100, every: .seconds(1), clock: clock)
    #expect(Recorder(batches).updates.map(\.count) == [100, 50])
  }

  @Test func `append and prepend emit in sequence`() {
    enum State: Sendable { case connecting, connected }
    let connection = Broadcaster<State>.sequence([.connected])
    let states = connection.prepend(.connecting)
    #expect(Recorder(states).updates == [.connecting, .connected])

    let history = Broadcaster.sequence(["a", "b"])
    let source = BroadcastSource<String>()
    let live = source.publisher
    let lines = history.append(live)
    let recorder = Recorder(lines)
    source.broadcast("c")
    #expect(recorder.updates == ["a", "b", "c"])
  }

  @Test func `pairs finds rises, and publishedValue starts with nil`() {
    let level = PublishedProperty(1)
    let rises = level.publisher.pairs().filter { old, new in new > old }
    let recorder = Recorder(rises.map(\.new))
    for number in [2, 1, 3] { level.value = number }
    #expect(recorder.updates == [2, 3])

    let visitors = BroadcastSource<String>()
    let door = Door(visitors: visitors.publisher)
    let lastVisitor = door.visitors.publishedValue()
    visitors.broadcast("Ada")
    #expect(lastVisitor.current() == "Ada")
  }

  @Test func `combineLatest combines values`() {
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

  @Test func `scan adds numbers`() {
    let print: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let numbers = BroadcastSource<Int>()

    let sums = numbers.publisher.scan(0) { sum, number in sum + number }
    let subscription = sums.subscribe { print($0) }
    numbers.broadcast(1)  // prints 1
    numbers.broadcast(2)  // prints 3

    #expect(paper.lines == ["1", "3"])
    subscription.invalidate()
  }

  @Test func `trace reports each stage of a chain`() {
    let show: @Sendable (Int) -> Void = { paper.print("\($0)") }
    let source = BroadcastSource<Click>()
    let clicks = source.publisher
    let positions = clicks.trace("clicks").map(\.position).trace("positions")
    let subscription = positions.subscribe { show($0) }
    source.broadcast(Click(position: 5))
    #expect(paper.lines == ["5"])
    subscription.invalidate()
  }

  @Test func `retrying runs failed work again`() async throws {
    let id = 7
    do {
      let user = PublishedTask { () async throws(FetchError) in try await fetch(id) }
      #expect(try await user.value == User(name: "7"))
    }
    do {
      let user = PublishedTask.retrying(
        times: 3, delay: .exponential(from: .milliseconds(100), upTo: .seconds(5), jitter: 1),
        while: { $0 != .notFound }
      ) { () async throws(FetchError) in
        try await fetch(id)
      }
      #expect(try await user.value == User(name: "7"))
    }
  }

  @Test func `retrying passes the number of the attempt`() async throws {
    let mirrors = ["first", "second", "third"]
    let fetch: @Sendable (String) async throws -> String = { mirror in
      if mirror != "third" { throw CancellationError() }
      return mirror
    }
    let page = PublishedTask.retrying(times: 3) { attempt in
      try await fetch(mirrors[attempt % mirrors.count])
    }
    #expect(try await page.value == "third")
  }

  @Test func `a failed download is retried`() async throws {
    let url = "a"
    let download: @Sendable (String, @Sendable (Double) -> Void) async throws -> Int = {
      url, report in
      report(1)
      return url.count
    }

    let file = ProgressiveTask.retrying(times: 3) { report in
      try await download(url, report)
    }

    let size = try await file.map { $0 }.mapProgress { (done: Double) in done }.value
    #expect(size == 1)
  }

  @Test func `all creates tasks from inputs within a limit`() async throws {
    struct File {
      let size: Double
    }
    let addresses = ["a", "bc"]
    let load: @Sendable (String) -> PublishedTask<Int, Never> = { .success($0.count) }
    let files = [File(size: 1), File(size: 3)]
    let download: @Sendable (File) -> ProgressiveTask<Double, Double, Never> = {
      .sequence([0.5], .success($0.size))
    }

    let pages = all(addresses, limit: 4) { address in load(address) }
    let whole = all(files, limit: 4, weights: files.map(\.size)) { file in download(file) }

    #expect(try await pages.value == [1, 2])
    #expect(Recorder(whole).updates.prefix(2) == [.progress(0.125), .progress(0.25)])
  }

  @Test func `timeout fails a slow task`() async throws {
    let fetch = PublishedTask<User, FetchError>.success(User(name: "7"))
    let user = fetch.timeout(after: .seconds(5), clock: clock)
    #expect(try await user.value == User(name: "7"))
  }

  @Test func `flatMap continues with another task`() async {
    let user = PublishedTask<User, FetchError>.success(User(name: "Ada"))

    let picture = user.flatMap { user in loadPicture(of: user) }
    let shown = picture.recover { _ in .success(Picture.placeholder) }

    #expect(await picture.result == .failure(FetchError()))
    #expect(await shown.result == .success(Picture.placeholder))
  }

  @Test func `all combines several tasks`() async throws {
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

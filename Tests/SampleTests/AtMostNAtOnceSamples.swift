import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private struct Page: Sendable, Equatable {
  let address: String
}

private struct LoadError: Error, Equatable {}

/// Loads a page once the test calls `answer`.
private final class Web: Sendable {
  private let sources = Shared<[String: TaskSource<Page, LoadError>]>([:])

  var running: [String] {
    sources.value.filter { $1.subscriberCount > 0 }.keys.sorted()
  }

  func load(_ address: String) -> PublishedTask<Page, LoadError> {
    sources.change { sources in
      let source = sources[address] ?? TaskSource()
      sources[address] = source
      return source.publisher
    }
  }

  func answer(_ address: String) {
    sources.value[address]?.finish(.success(Page(address: address)))
  }
}

/// The code of AtMostNAtOnce.md.
@Suite(.light) struct AtMostNAtOnceSamples {
  private let web = Web()

  @Test func `two pages load concurrently, and the next when one has finished`() {
    let (addresses, web) = (BroadcastSource<String>(), web)
    let load: @Sendable (String) -> PublishedTask<Page, LoadError> = { web.load($0) }

    let pages = addresses.publisher.flatMap(limit: 2) { address in load(address) }

    let recorder = Recorder(pages)
    for address in ["a", "b", "c"] { addresses.broadcast(address) }
    #expect(web.running == ["a", "b"])
    web.answer("b")
    #expect(web.running == ["a", "c"])
    web.answer("c")
    web.answer("a")
    #expect(recorder.updates == ["b", "c", "a"].map { .success(Page(address: $0)) })
  }

  @Test func `the timeline of flatMap with a limit`() {
    let timeline = Timeline()
    let one = timeline.broadcaster("    -a---|")
    let two = timeline.broadcaster("    --b-----b|")
    let three = timeline.broadcaster("  --c---c-c|")
    let turns = timeline.broadcaster("  (xyz)|", ["x": one, "y": two, "z": three])
    timeline.expect("                   -ab---c-(bc)|", from: turns.flatMap(limit: 2) { $0 })
    #expect(timeline.play() == nil)
  }

  /// Accepts addresses up to a limit.
  final class Loader: Sendable {
    private let addresses = BroadcastSource<String>()
    private let subscription: Subscription

    fileprivate init(
      _ load: @escaping @Sendable (String) -> PublishedTask<Page, LoadError>,
      _ show: @escaping @Sendable (Result<Page, LoadError>) -> Void
    ) {
      subscription = addresses.publisher.flatMap(limit: 2, load).subscribe(show)
    }

    /// Returns `false` if the queue is full.
    func add(_ address: String) -> Bool {
      if subscription.pendingUpdates >= 100 { return false }
      addresses.broadcast(address)
      return true
    }
  }

  @Test func `a full queue refuses an address`() {
    let paper = Paper()
    let loader = Loader({ [web] in web.load($0) }, { paper.print("\($0)") })
    for number in 0..<102 { #expect(loader.add("\(number)")) }
    #expect(!loader.add("102"))
    web.answer("0")
    #expect(loader.add("102"))
  }

  @Test func `a list is loaded two at a time`() async {
    let web = web
    let list = ["a", "b", "c"]
    let load: @Sendable (String) -> PublishedTask<Page, LoadError> = { web.load($0) }

    let all = all(list, limit: 2) { address in load(address) }

    let recorder = Recorder(all)
    #expect(web.running == ["a", "b"])
    for address in ["b", "c", "a"] { web.answer(address) }
    #expect(recorder.updates == [.success(list.map { Page(address: $0) })])
  }

  @Test func `a loop finishes a page before it takes the next address`() async throws {
    let orders = BroadcastSource<String>()
    let paper = Paper()
    let load: @Sendable (String) -> PublishedTask<Page, LoadError> = {
      .success(Page(address: $0))
    }
    let show: @Sendable (Page) -> Void = { paper.print($0.address) }
    let addresses = orders.publisher.values(.bufferingOldest(100))
    for order in ["a", "b"] { orders.broadcast(order) }
    orders.end()

    for await address in addresses {
      show(try await load(address).value)
    }

    #expect(paper.lines == ["a", "b"])
  }
}

import Foundation
import MiniRex
import MiniRexJournal
import MiniRexPageServer
import MiniRexStore

/// Answers requests from the store, and changes it durably.
final class Service: Sendable {
  private struct Counter: Codable {
    var name: String
    var value: Int
    /// The number of the commit since the start of the server.
    var commit: Int?
  }

  private struct Change: Decodable {
    var add: Int?
    var take: Int?
  }

  private let store: Store<Counters, CounterAction>
  private let journal: Journal<Counters, CounterAction>
  private let recording: Subscription
  private let isStopping = PublishedProperty(false)
  private let stopped = TaskSource<Void, Never>()
  private let isReady: PublishedValue<Bool>
  private let log: Log

  init(_ journal: Journal<Counters, CounterAction>, log: Log) throws {
    self.journal = journal
    self.log = log
    store = Store(try journal.replay(Counters(), reducer: reducer), reducer: reducer)
    recording = journal.record(store)
    let (failure, stopping) = (journal.failure, isStopping.publisher)
    isReady = .computed { read in read(failure) == .some(nil) && !read(stopping) }
  }

  private var hasFailed: Bool { journal.failure.current() != .some(nil) }

  /// Finishes after `stop()`.
  var whileServing: PublishedTask<Void, Never> { stopped.publisher }

  /// Reports that the server is not ready, and ends the event streams after a time.
  func stop(after notice: Duration) async {
    isStopping.value = true
    try? await Task.sleep(for: notice)
    stopped.finish(.success(()))
  }

  func answer(_ request: Request) async -> Reply {
    let began = ContinuousClock.now
    let reply = await route(request)
    let time = began.duration(to: .now) / .milliseconds(1)
    log(
      "request",
      [
        "method": "\(request.method)", "path": "\(request.path)", "status": "\(reply.line)",
        "milliseconds": .number(Int(time.rounded())),
      ])
    return reply
  }

  private func route(_ request: Request) async -> Reply {
    let name = String(request.path.dropFirst("/counters/".count))
    let isCounter = request.path.hasPrefix("/counters/") && !name.isEmpty && !name.contains("/")
    return switch (request.method, request.path) {
    case ("GET", "/"): .page(Data(PackageResources.page_html))
    case ("GET", "/counters"): .content("application/json", json(store.state.values))
    // A browser would try again immediately, without an end.
    case ("GET", "/events") where hasFailed:
      .status(.unavailable, because: "the journal has failed")
    case ("GET", "/events"): .events(events(after: request.headers["last-event-id"]), .delaysEvents)
    case ("GET", "/ready") where isReady.current() == true: .status(.ok, because: "ready")
    case ("GET", "/ready"): .status(.unavailable, because: "not ready")
    case ("GET", _) where isCounter: show(name)
    case ("POST", _) where isCounter: await change(name, request.body)
    case ("GET", _): .status(.notFound)
    default: .status(.notAllowed)
    }
  }

  /// The commits after the last commit that a browser has, at the pace of the browser.
  private func events(after id: String?) -> Broadcaster<Data> {
    Broadcaster(
      store.eventFrames(after: id.flatMap { Int($0) }, in: journal, keepAlive: .seconds(15))
    )
    .map { Data($0.utf8) }
    .prefix(until: stopped.publisher.broadcaster)
  }

  private func show(_ name: String) -> Reply {
    guard let value = store.state.values[name] else { return .status(.notFound) }
    return .content("application/json", json(Counter(name: name, value: value)))
  }

  /// Changes a counter, and answers with the value of its own commit when the commit is on the disk.
  private func change(_ name: String, _ body: Data) async -> Reply {
    do {
      let change = try? JSONDecoder().decode(Change.self, from: body)
      switch (change?.add, change?.take) {
      case (let amount?, nil) where amounts ~= amount:
        let receipt = try await store.send(.added(amount, to: name), in: journal) {
          $0.values[name] ?? 0
        }
        return counter(name, receipt.value, receipt.number)
      case (nil, let amount?) where amounts ~= amount: return try await take(amount, from: name)
      default:
        return .status(
          .badRequest,
          because: "Send {\"add\": NUMBER} or {\"take\": NUMBER}, from 1 to \(amounts.upperBound).")
      }
    } catch Refusal.insufficient(let value) {
      return .status(.conflict, because: "'\(name)' is \(value).")
    } catch {
      return .status(.unavailable, because: "The change may be lost: \(error)")
    }
  }

  /// Decides and changes atomically, so that no counter becomes negative.
  private func take(_ amount: Int, from name: String) async throws -> Reply {
    // The decision runs with exclusive access, so its value is the value of its commit.
    var value = 0
    let task = try store.send { state throws(Refusal) in
      value = (state.values[name] ?? 0) - amount
      guard value >= 0 else { throw .insufficient(value + amount) }
      return .added(-amount, to: name)
    }
    try await journal.flush(through: task)
    return counter(name, value, task.number)
  }

  private func counter(_ name: String, _ value: Int, _ commit: Int?) -> Reply {
    .content("application/json", json(Counter(name: name, value: value, commit: commit)))
  }
}

/// With this limit, it takes nine billion changes to overflow a counter.
private let amounts = 1...1_000_000_000

private func json(_ value: some Encodable) -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  return (try? encoder.encode(value)) ?? Data()
}

extension Reply {
  /// The status line, for the log.
  fileprivate var line: String {
    if case .status(let status, _) = self { status.line } else { Status.ok.line }
  }
}

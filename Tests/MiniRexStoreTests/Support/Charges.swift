import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// A job that tests add.
struct Charge: Codable, Identifiable, Equatable, Sendable {
  var id: Int
  var customer = "Ann"
  var amount = 1
}

/// A shop whose orders are charged by jobs.
struct Shop: Codable, Equatable, Sendable {
  var charges = Jobs<Charge>()
  var receipts: [Int] = []
  var notes = 0
}

enum ShopAction: Codable, Equatable, Sendable {
  case ordered(Charge, notBefore: UnixTime? = nil)
  case replaced(Charge, JobReplacingChoice)
  case charged(Int)
  /// Does not remove the job.
  case noted(Int)
  case dropped(Int)
  case reset
  case charges(JobsAction<Charge>)
}

enum JobReplacingChoice: Codable, Equatable, Sendable {
  case always, never, beforeFirstAttempt

  var replacing: JobReplacing {
    switch self {
    case .always: .always
    case .never: .never
    case .beforeFirstAttempt: .beforeFirstAttempt
    }
  }
}

let selling: Reducer<Shop, ShopAction> = { shop, action in
  switch action {
  case .ordered(let charge, let time): shop.charges.add(charge, notBefore: time)
  case .replaced(let charge, let choice): shop.charges.add(charge, replacing: choice.replacing)
  case .charged(let id):
    shop.receipts.append(id)
    shop.charges.remove(id)
  case .noted(let id): shop.receipts.append(id)
  case .dropped(let id): shop.charges.remove(id)
  case .reset: shop = Shop()
  case .charges(let action): shop.charges.reduce(action)
  }
  return .none
}

struct Declined: Error, CustomStringConvertible {
  var description = "declined"
}

/// Work that runs until the test finishes it.
final class Bench: Sendable {
  private struct State: Sendable {
    var starts: [String] = []
    var cancelled: [Int] = []
    var waiting: [Int: CheckedContinuation<ShopAction, any Error>] = [:]
    var running = 0
    var most = 0
    var lines: [String: Int] = [:]
    var hasOverlap = false
  }

  private let state = Lock(State())
  /// A Boolean value that indicates whether canceled work continues until the test finishes it.
  let ignoresCancellation: Bool

  init(ignoresCancellation: Bool = false) { self.ignoresCancellation = ignoresCancellation }

  /// The ID and the attempt of each start, such as `1.1`.
  var starts: [String] { state.withLock { $0.starts } }
  var cancelled: [Int] { state.withLock { $0.cancelled } }
  var running: Int { state.withLock { $0.running } }
  var most: Int { state.withLock { $0.most } }
  var hasOverlap: Bool { state.withLock { $0.hasOverlap } }

  func work(_ charge: Charge, _ attempt: Int) async throws -> ShopAction {
    state.withLock { state in
      state.starts.append("\(charge.id).\(attempt)")
      state.running += 1
      state.most = max(state.most, state.running)
      state.lines[charge.customer, default: 0] += 1
      if state.lines[charge.customer, default: 0] > 1 { state.hasOverlap = true }
    }
    defer {
      state.withLock { state in
        state.running -= 1
        state.lines[charge.customer, default: 0] -= 1
      }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        state.withLock { $0.waiting[charge.id] = continuation }
        if Task.isCancelled { cancel(charge.id) }
      }
    } onCancel: {
      cancel(charge.id)
    }
  }

  private func cancel(_ id: Int) {
    let continuation = state.withLock { state in
      if !state.cancelled.contains(id) { state.cancelled.append(id) }
      return ignoresCancellation ? nil : state.waiting.removeValue(forKey: id)
    }
    continuation?.resume(throwing: CancellationError())
  }

  func finish(_ id: Int, with action: ShopAction? = nil) async {
    await take(id)?.resume(returning: action ?? .charged(id))
  }

  func fail(_ id: Int, with error: any Error = Declined()) async {
    await take(id)?.resume(throwing: error)
  }

  private func take(_ id: Int) async -> CheckedContinuation<ShopAction, any Error>? {
    await until { state.withLock { $0.waiting[id] != nil } }
    return state.withLock { $0.waiting.removeValue(forKey: id) }
  }
}

/// A clock that a test advances, and the date that follows it.
struct TestTime: Sendable {
  let clock = ManualClock()
  /// A jump of the date beside the clock.
  let jump = Shared(Duration.zero)

  var now: UnixTime {
    UnixTime(milliseconds: 1_000_000).advanced(by: clock.now.offset + jump.value)
  }

  func advance(by duration: Duration) { clock.advance(by: duration) }

  func after(_ duration: Duration) -> UnixTime { now.advanced(by: duration) }
}

extension Store where State == Shop, Action == ShopAction {
  func charge(
    _ bench: Bench, atMost limit: Int = 4, order: JobOrder<Charge> = .addition,
    retrying retry: JobRetry = .exponential(from: .seconds(1), upTo: .seconds(300)),
    at time: TestTime = TestTime()
  ) -> Subscription {
    perform(
      \.charges, ShopAction.charges, atMost: limit, order: order, retrying: retry,
      clock: time.clock, now: { time.now }
    ) { try await bench.work($0, $1) }
  }
}

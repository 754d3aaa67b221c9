#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import Synchronization

struct Board: Codable, Sendable {
  var moves = 0
  var last = 0
}

/// An action of 34 bytes of JSON.
struct Move: Codable, Sendable {
  let card: Int
  var to = "in-progress"
}

func move(_ board: inout Board, _ action: Move) -> Effect<Move> {
  board.moves &+= 1
  board.last = action.card
  return .none
}

/// A folder that is removed with this object.
final class BenchFolder {
  let path: String

  init() throws {
    path = URL.temporaryDirectory.appending(path: "nats-bench-\(UUID())").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The nanoseconds of an operation, on the clock and of the processor for its thread.
struct Times {
  let clock: Double
  let processor: Double
}

/// Returns the times of one of many operations on this thread.
///
/// A busy machine changes the clock, but not the time of the processor.
private func times(of count: Int, _ body: () throws -> Void) rethrows -> Times {
  func used() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
  let before = used()
  let took = try ContinuousClock().measure(body)
  return Times(
    clock: took / .nanoseconds(1) / Double(count), processor: (used() - before) / Double(count))
}

/// Returns the times of one of many sends without a connection.
func send(_ count: Int, keptIn folder: BenchFolder? = nil) async throws -> Times {
  let link = MemoryLog().link()
  link.cut()
  let replica = try Replica(
    Board(), of: link, keptIn: folder?.path, pendingLimit: .max, reducer: move)
  let times = times(of: count) {
    for number in 0..<count { replica.send(Move(card: 100_000 + number)) }
  }
  await replica.close()
  return times
}

/// Returns the times of one of many encodings of the action, as `send` encodes it.
func encoding(_ count: Int) throws -> Times {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  var lines: [Data] = []
  let times = try times(of: count) {
    for number in 0..<count { lines.append(try encoder.encode(Move(card: 100_000 + number))) }
  }
  if lines.count != count { fatalError("An encoding is missing.") }
  return times
}

/// Returns the log with a name, which it creates.
func benchLog(_ name: String, over nats: NATSConnection) async -> NATSLog {
  let log = nats.log(name)
  finish(log.create())
  return log
}

/// Returns the seconds until a sender has the decisions about all of its actions.
func decided<Action: Codable & Sendable>(
  _ actions: [Action], _ url: String
) async throws -> Double {
  let nats = await connection(url)
  let log = await benchLog("bench-\(UUID())", over: nats)
  let replica = try Replica(0, of: log, pendingLimit: .max) { (state: inout Int, _: Action) in
    state &+= 1
    return .none
  }
  try await replica.caughtUp()
  let done = DispatchSemaphore(value: 0)
  let bag = SubscriptionBag()
  let took = ContinuousClock().measure {
    for action in actions.dropLast() { replica.send(action) }
    replica.send(actions[actions.count - 1]).subscribe { _ in done.signal() }.store(in: bag)
    done.wait()
  }
  await replica.close()
  finish(nats.stream(log.name).remove())
  await nats.close()
  return took / .seconds(1)
}

/// Returns the nanoseconds of each confirmation, one after another.
func confirmations(_ count: Int, _ url: String) async throws -> [Double] {
  let nats = await connection(url)
  let log = await benchLog("bench-\(UUID())", over: nats)
  let replica = try Replica(Board(), of: log, reducer: move)
  try await replica.caughtUp()
  let times = (0..<count).map { number in
    ContinuousClock().measure { finish(replica.send(Move(card: 100_000 + number))) }
      / .nanoseconds(1)
  }
  await replica.close()
  await nats.close()
  return times
}

struct Rebase {
  var commits = 0
  var seconds = 0.0
  /// The time that the same number of calls of the reducer takes in a loop.
  var reducing = 0.0
}

/// Measures how the pending actions of an offline replica are rebased on foreign actions.
///
/// - Parameter work: The number of steps of one call of the reducer.
func rebase(pending: Int, foreign: Int, work: Int) async throws -> Rebase {
  let calls = Atomic(0)
  @Sendable func reduce(_ state: inout UInt, _ action: Move) -> Effect<Move> {
    calls.add(1, ordering: .relaxed)
    for _ in 0..<work { state = (state ^ UInt(bitPattern: action.card)) &* 0x9E37_79B9_7F4A_7C15 }
    return .none
  }
  let log = MemoryLog()
  let away = log.link()
  let other = try Replica(UInt(0), of: log.link(), pendingLimit: .max, reducer: reduce)
  let replica = try Replica(UInt(0), of: away, pendingLimit: .max, reducer: reduce)
  try await replica.caughtUp()
  away.cut()
  for number in 0..<pending { replica.send(Move(card: 100_000 + number)) }
  for number in 0..<foreign { other.send(Move(card: 200_000 + number)) }
  try await other.flush()
  let commits = Atomic(0)
  let subscription = replica.store.events.subscribe { event in
    if case .rebased? = event.commit?.cause { commits.add(1, ordering: .relaxed) }
  }
  // The other replica reads its entries too, and must not take time from this one.
  await other.close()
  calls.store(0, ordering: .relaxed)
  let clock = ContinuousClock()
  let began = clock.now
  away.connect()
  try await replica.caughtUp()
  try await replica.flush()
  let took = clock.now - began
  let count = calls.load(ordering: .relaxed)
  var state = UInt(0)
  let reducing = clock.measure {
    for number in 0..<count { _ = reduce(&state, Move(card: 100_000 + number)) }
  }
  if state == 1 { print("") }
  subscription.invalidate()
  await replica.close()
  return Rebase(
    commits: commits.load(ordering: .relaxed), seconds: took / .seconds(1),
    reducing: reducing / .seconds(1))
}

/// Returns the seconds from the start of a replica with pending actions until all are decided.
func decideBacklog(_ count: Int, _ url: String) async throws -> Double {
  let folder = try BenchFolder()
  let link = MemoryLog().link()
  link.cut()
  let offline = try Replica(
    Board(), of: link, keptIn: folder.path, pendingLimit: .max, reducer: move)
  for number in 0..<count { offline.send(Move(card: 100_000 + number)) }
  await offline.close()
  let nats = await connection(url)
  let log = await benchLog("bench-\(UUID())", over: nats)
  let replica = try Replica(
    Board(), of: log, keptIn: folder.path, pendingLimit: .max, reducer: move)
  let clock = ContinuousClock()
  let began = clock.now
  try await replica.flush()
  let took = clock.now - began
  if replica.store.state.moves != count { fatalError("An action is missing.") }
  await replica.close()
  finish(nats.stream(log.name).remove())
  await nats.close()
  return took / .seconds(1)
}
#endif

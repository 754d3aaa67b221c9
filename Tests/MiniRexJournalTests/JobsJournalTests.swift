import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

@testable import journal_keeper

private enum LateAction: Codable, Sendable {
  case ordered(at: UnixTime)
  case paid(Int)
  case hold
  case payments(JobsAction<Payment>)
}

private let payingLate: Reducer<Jobs<Payment>, LateAction> = { payments, action in
  switch action {
  case .ordered(let time): payments.add(Payment(id: 1), notBefore: time)
  case .paid(let id): payments.remove(id)
  case .hold: break
  case .payments(let action): payments.reduce(action)
  }
  return .none
}

typealias TillJournal = Journal<Till, TillAction>

/// Jobs in a journal, on real files.
@Suite(.light) struct JobsJournalTests {
  /// A store with its journal.
  private struct Kept {
    /// Retained, because its release removes the file.
    let folder: Folder
    let journal: TillJournal
    let store: Store<Till, TillAction>
    let recording: Subscription

    init(_ folder: Folder) throws {
      self.folder = folder
      journal = try TillJournal(folder.file("journal"), sync: .onFlush)
      store = Store(try journal.replay(Till(), reducer: paying), reducer: paying)
      recording = journal.record(store)
    }
  }

  @Test func `W1 a job starts after its commit is on the disk`() async throws {
    let kept = try Kept(try Folder())
    let (journal, store) = (kept.journal, kept.store)
    let durable = Shared<[Int]>([])
    let working = store.perform(\.payments, TillAction.payments, atMost: 8, in: journal) {
      payment, _ in
      durable.append(journal.status.current()?.durableNumber ?? -1)
      return .paid(payment.id)
    }

    let number = store.send(.ordered).number ?? 0
    await until { store.state.payments.isEmpty }

    #expect(durable.value.count == 1)
    #expect(durable.value[0] >= number)
    #expect(journal.syncCount >= 1)
    withExtendedLifetime((kept, working)) {}
  }

  @Test func `W1 a thousand jobs share the synchronizations`() async throws {
    let kept = try Kept(try Folder())
    let (journal, store) = (kept.journal, kept.store)
    let working = store.perform(\.payments, TillAction.payments, atMost: 8, in: journal) {
      payment, _ in .paid(payment.id)
    }

    for _ in 1...1_000 { store.send(.ordered) }
    await until { store.state.payments.isEmpty }

    #expect(store.state.receipts.count == 1_000)
    #expect(journal.syncCount <= 1_000)
    withExtendedLifetime((kept, working)) {}
  }

  @Test func `W1 no job starts while nothing records the store`() async throws {
    let clock = ManualClock()
    let kept = try Kept(try Folder())
    let (journal, store) = (kept.journal, kept.store)
    kept.recording.invalidate()
    let starts = Shared(0)
    let working = store.perform(
      \.payments, TillAction.payments, atMost: 8, in: journal, clock: clock
    ) { payment, _ in
      starts.increment()
      return .paid(payment.id)
    }
    store.send(.ordered)

    for _ in 1...3 {
      await until { clock.sleeperCount == 1 }
      await clock.advance(by: .seconds(1))
    }
    #expect(starts.value == 0)
    #expect(store.state.payments[id: 1]?.attempts == 0)
    let recording = journal.record(store)
    await until {
      await clock.advance(by: .seconds(1))
      return store.state.payments.isEmpty
    }

    #expect(starts.value == 1)
    withExtendedLifetime((recording, working)) {}
  }

  @Test func `W1 a job that is on the disk does not start while nothing records the store`()
    async throws
  {
    let clock = ManualClock()
    let kept = try Kept(try Folder())
    let (journal, store) = (kept.journal, kept.store)
    let starts = Shared<[Int]>([])
    let working = store.perform(
      \.payments, TillAction.payments, atMost: 1, retrying: .constant(.zero), in: journal,
      clock: clock
    ) { payment, attempt in
      starts.append(payment.id)
      if attempt == 1 {
        kept.recording.invalidate()
        throw CancellationError()
      }
      return .paid(payment.id)
    }
    store.send(.ordered)
    store.send(.ordered)
    await until { store.state.payments[id: 1]?.failure != nil }

    for _ in 1...3 {
      await until { clock.sleeperCount == 1 }
      await clock.advance(by: .seconds(1))
    }
    #expect(starts.value == [1])
    let recording = journal.record(store)
    await until {
      await clock.advance(by: .seconds(1))
      return store.state.payments.isEmpty
    }

    #expect(starts.value == [1, 1, 2, 2])
    withExtendedLifetime((recording, working)) {}
  }

  @Test func `W4 an attempt starts after its beginning is in the file`() async throws {
    let folder = try Folder()
    let clock = ManualClock()
    let now: @Sendable () -> UnixTime = {
      UnixTime(milliseconds: 0).advanced(by: clock.now.offset)
    }
    let journal = try Journal<Jobs<Payment>, LateAction>(folder.file("journal"), sync: .onFlush)
    let store = Store(Jobs(), reducer: payingLate)
    let (isHeld, mayGoOn) = (Shared(false), DispatchSemaphore(value: 0))
    let holding = store.events.subscribe { event in
      if case .hold? = event.action {
        isHeld.value = true
        mayGoOn.waitAtMost()
      }
    }
    let recording = journal.record(store)
    let isInFile = Shared<[Bool]>([])
    let working = store.perform(
      \.self, LateAction.payments, atMost: 1, in: journal, clock: clock, now: now
    ) { payment, _ in
      let lines = try String(contentsOf: folder.file("journal"), encoding: .utf8)
      isInFile.append(lines.contains("began"))
      return .paid(payment.id)
    }
    store.send(.ordered(at: now().advanced(by: .seconds(1))))
    try await journal.flush()
    await until { clock.sleeperCount == 1 }

    // The thread holds the delivery, so the beginning is committed and not in the file.
    let thread = Thread { store.send(.hold) }
    thread.start()
    await until { isHeld.value }
    await clock.advance(by: .seconds(1))
    await until { store.state[id: 1]?.attempts != 0 }
    // Without the rule, the attempt starts now.
    _ = await holds(patience: 100) { !isInFile.value.isEmpty }
    mayGoOn.signal()
    await until { store.state.isEmpty }

    #expect(isInFile.value == [true])
    withExtendedLifetime((holding, recording, working)) {}
  }

  @Test func `W4 W5 a restart continues with the attempts and the earliest time`() async throws {
    let folder = try Folder()
    let clock = ManualClock()
    let now: @Sendable () -> UnixTime = {
      UnixTime(milliseconds: 1_000).advanced(by: clock.now.offset)
    }
    do {
      let kept = try Kept(folder)
      let store = kept.store
      let working = store.perform(
        \.payments, TillAction.payments, atMost: 8, retrying: .constant(.seconds(3_600)),
        in: kept.journal, clock: clock, now: now
      ) { _, _ in throw Unpaid() }
      store.send(.ordered)
      await until { store.state.payments.counts.waiting == 1 }
      await working.invalidateAndWait()
      withExtendedLifetime(kept) {}
    }

    // A thread that synchronizes the file for a job can retain it for a moment.
    var reopened: Kept?
    await until {
      reopened = try? Kept(folder)
      return reopened != nil
    }
    let kept = try #require(reopened)
    let store = kept.store
    let attempts = Shared<[Int]>([])
    let working = store.perform(
      \.payments, TillAction.payments, atMost: 8, in: kept.journal, clock: clock, now: now
    ) { payment, attempt in
      attempts.append(attempt)
      return .paid(payment.id)
    }
    #expect(store.state.payments[id: 1]?.failure?.description == "Unpaid()")
    await clock.advance(by: .seconds(3_599))
    #expect(store.state.payments.counts.waiting == 1)
    await clock.advance(by: .seconds(1))
    await until { store.state.payments.isEmpty }

    #expect(attempts.value == [2])
    withExtendedLifetime((kept, working)) {}
  }

  @Test func `a time converts to a date and back`() {
    let time = UnixTime(milliseconds: 1_700_000_000_123)
    var jobs = Jobs<Payment>()

    jobs.add(Payment(id: 1), notBefore: Date(time))

    #expect(jobs[id: 1]?.status == .waiting(until: time))
    #expect(UnixTime(Date(time)) == time)
    #expect(UnixTime(Date(timeIntervalSince1970: .infinity)).milliseconds == .max)
    #expect(UnixTime(Date(timeIntervalSince1970: -.infinity)).milliseconds == .min)
    #expect(UnixTime(Date(timeIntervalSince1970: 0.0001)).milliseconds == 1)
  }
}

/// A real service that records the idempotency keys of payments.
final class PaymentService: Sendable {
  let server: LoopbackServer
  private let counts: Shared<[Int: Int]>

  /// - Parameter failing: The share of requests without an answer, or with the status 500.
  init(failing: Int = 10) throws {
    let counts = Shared<[Int: Int]>([:])
    self.counts = counts
    server = try LoopbackServer { connection in
      let key = connection.headers["idempotency-key"].flatMap(Int.init) ?? 0
      counts.change { $0[key, default: 0] += 1 }
      switch Int.random(in: 0..<100) {
      case ..<failing: connection.answer("500 Internal Server Error", body: Data())
      case ..<(2 * failing): break
      default: connection.answer(body: Data())
      }
    }
  }

  deinit { server.stop() }

  /// The number of requests for each key.
  var requests: [Int: Int] { counts.value }
}

#if os(Linux)
/// Jobs around kills and power losses.
@Suite(.light, .serialized) struct JobsStormTests {
  @Test func `W2 W4 a program killed at work misses no payment, and commits each result once`()
    async throws
  {
    let folder = try Folder()
    let service = try PaymentService()
    let kills = max(3, scaled(10))
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    var count = 0
    for _ in 1...kills {
      count += 40
      let child = try Child(
        ["pay", folder.path("journal"), "\(service.server.port)", "\(count)"],
        program: "journal-keeper")
      let first = await child.output.until("recording after")
      #expect(first.count == 1, "\(first)")
      // At a random instant, not after a condition.
      usleep(UInt32.random(in: 0...30_000, using: &random))
      child.send(SIGKILL)
      #expect([-SIGKILL, 0].contains(await child.status()))

      let requests = service.requests
      let till = try TillJournal(folder.file("journal")).replay(Till(), reducer: paying)
      #expect(Set(till.receipts).count == till.receipts.count)
      #expect(till.receipts.allSatisfy { requests[$0] != nil })
      // W1: the service received no payment of an order that the kill took back.
      #expect(requests.keys.allSatisfy { $0 <= till.ordered })
      #expect(till.payments.count + till.receipts.count == till.ordered)
    }
    let child = try Child(
      ["pay", folder.path("journal"), "\(service.server.port)", "\(count)"],
      program: "journal-keeper")
    _ = await child.output.until("paid")
    #expect(await child.status() == 0)
    let till = try TillJournal(folder.file("journal")).replay(Till(), reducer: paying)
    #expect(till.receipts.sorted() == Array(1...count))
    #expect(Set(service.requests.keys) == Set(1...count))
    let total = service.requests.values.reduce(0, +)
    print(
      "\(kills) kills, \(count) payments, \(total) requests, none missing, none committed twice")
  }

  /// - Returns: The violated rule, or `nil`.
  private func violation(in folder: Folder, started: Int) throws -> String? {
    let till = try TillJournal(folder.file("journal")).replay(Till(), reducer: paying)
    if till.ordered < started { return "\(started) began, and \(till.ordered) are on the disk" }
    if Set(till.receipts).count < till.receipts.count { return "a result was committed twice" }
    let isComplete = till.payments.count + till.receipts.count == till.ordered
    return isComplete ? nil : "a payment is missing"
  }

  @Test func `W1 no power loss takes back a job that has started`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (folder, log) = (try Folder(), try Folder())
    let said = try await library.run("", script: "payments", in: folder, log: log.path("log"))
    #expect(said == ["paid"])
    var random = SeededGenerator(seed: .random(in: 0 ... .max))
    var disk = ModelDisk(sector: 512, folder)
    var losses = 0
    for call in try systemCalls(in: log.file("log")) {
      disk.apply(call, &random)
      if call.kind == "n" { continue }
      for loss in [ModelDisk.Loss.everythingUnsynchronized, .random] where scaled(4) > 0 {
        let copy = try Folder()
        try disk.write(to: copy, after: loss, &random)
        #expect(try violation(in: copy, started: disk.durable) == nil, "\(losses)")
        losses += 1
      }
    }
    #expect(losses > 50 && disk.durable == 20)
  }

  @Test func `W1 no job starts that a failed system call keeps from the disk`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    var cases: [(at: Int, code: Int32?, bytes: Int)] = []
    for at in 1...80 { for code in [ENOSPC, EIO] { cases.append((at, code, 0)) } }
    for fault in cases.shuffled().prefix(scaled(16)) {
      let folder = try Folder()
      let said = try await library.run("", script: "payments", in: folder, fault: fault)
      let found = try violation(in: folder, started: lastNote(in: folder))
      #expect(found == nil, "\(fault): \(said)")
    }
  }
}
#endif

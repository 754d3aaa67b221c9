import Dispatch
import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import TestSupport
import Testing

/// The thread and the event that send an action, without a retry.
@Suite(.light)
struct SendingTests {
  private let link: MemoryLog.Link
  private let replica: Replica<Board, BoardAction>
  private let mayContinue = Gate()

  init() throws {
    link = MemoryLog().manualLink()
    replica = try makeReplica(link)
  }

  /// Returns when the queue of the replica is in a callback, which lasts until `mayContinue` is open.
  private func occupyQueue() async -> Subscription {
    let isOccupied = DispatchSemaphore(value: 0)
    let subscription = replica.entries.subscribe { [mayContinue] _ in
      isOccupied.signal()
      mayContinue.wait()
    }
    replica.send(.said("first"))
    await until { link.inFlightCount == 1 }
    link.acceptNext()
    link.deliverNext(.max)
    await isOccupied.isSignalled()
    return subscription
  }

  @Test func `each action reaches an idle log before send returns`() async throws {
    let subscription = await occupyQueue()

    for number in 1...3 {
      replica.send(.said("\(number)"))
      #expect(link.inFlightCount == 1)
      link.acceptNext()
    }

    mayContinue.open()
    withExtendedLifetime(subscription) {}
    await link.settle(replica)
    #expect(replica.store.words == ["first", "1", "2", "3"])
    await replica.close()
  }

  @Test func `each action of the store reaches an idle log without a later event`() async throws {
    try await replica.caughtUp()
    for number in 1...3 {
      replica.store.send(.said("\(number)"))
      await until(link.inFlightCount) { $0 == 1 }
      link.acceptNext()
    }
    await link.settle(replica)
    await replica.close()
  }

  @Test func `progress is offline when a cut returns, before the replica has read it`()
    async throws
  {
    let subscription = await occupyQueue()
    #expect(replica.progress.current()?.phase == .current)

    link.cut()

    #expect(replica.progress.current()?.phase == .offline)
    mayContinue.open()
    withExtendedLifetime(subscription) {}
    await replica.close()
  }

  @Test func `O14 an append after many sends has as many callers as the first`() async throws {
    let log = CallerLog()
    let replica = try Replica(Board(), of: log, reducer: reduce)
    try await replica.caughtUp()

    let counts = {
      let thread = ObjectIdentifier(Thread.current)
      for number in 1...10_000 {
        replica.send(.moved(number))
        if let counts = log.counts.value[thread], counts.count == 10 { return counts }
        // Another thread appends an action that follows too soon.
        usleep(1_000)
      }
      return []
    }()

    #expect(counts.count == 10)
    #expect(Set(counts).count == 1)
    await replica.close()
  }
}

/// A log that records the number of callers of each append, by thread.
private final class CallerLog: ReplicaLog {
  let counts = Shared<[ObjectIdentifier: [Int]]>([:])
  private let link = MemoryLog().link()

  func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
    counts.change { counts in
      counts[ObjectIdentifier(Thread.current), default: []].append(
        Thread.callStackReturnAddresses.count)
    }
    return link.append(entry)
  }

  func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
    link.entries(after: sequence)
  }

  func snapshot(through sequence: UInt64) -> PublishedTask<Data?, ReplicaLogError> {
    link.snapshot(through: sequence)
  }

  func addSnapshot(_ snapshot: ReplicaLogSnapshot) -> PublishedTask<Void, ReplicaLogError> {
    link.addSnapshot(snapshot)
  }
}

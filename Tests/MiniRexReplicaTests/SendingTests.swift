import Dispatch
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
}

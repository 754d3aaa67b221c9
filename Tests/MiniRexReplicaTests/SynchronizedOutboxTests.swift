import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Pending actions that survive a power failure.
@Suite(.light)
struct SynchronizedOutboxTests {
  @Test func `O6 a synchronized action is sent after its line is on the disk`() async throws {
    let folder = try Folder()
    let link = MemoryLog().manualLink()
    let (isAllowed, begun) = (DispatchSemaphore(value: 0), Shared(0))
    let replica = try makeReplica(
      link, keptIn: folder.url.path,
      durability: .synchronized { descriptor in
        begun.change { $0 += 1 }
        isAllowed.waitAtMost()
        return fdatasync(descriptor)
      })

    let first = replica.send(.said("1"))
    await until { begun.value == 1 }
    // The disk is slow, and the sender does not wait for it.
    for number in 2...100 { replica.send(.said("\(number)")) }
    #expect(replica.store.words.count == 100)
    await replica.processed()
    #expect(link.inFlightCount == 0)

    isAllowed.signal()
    await until { link.inFlightCount == 1 }
    link.acceptNext()
    link.deliverNext(.max)
    #expect(await first.success()?.sequence == 1)
    #expect(link.undelivered == 0 && replica.confirmed.current()?.words == ["1"])
    // The other actions share one synchronization.
    isAllowed.signal()
    await link.settle(replica)
    #expect(begun.value == 2)
    #expect(replica.confirmed.current()?.words.count == 100)
    await replica.close()
  }

  @Test func `O6 no entry is accepted before a synchronization of its lines`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let link = log.manualLink()
    let path = folder.path("outbox")
    let durable = Shared(0)
    let replica = try makeReplica(
      link, keptIn: folder.url.path,
      durability: .synchronized { descriptor in
        // The lines before the call are durable after it.
        let last = lastNumber(inFile: path)
        usleep(500)
        let result = fdatasync(descriptor)
        durable.change { $0 = max($0, last) }
        return result
      }, pendingLimit: 100_000)
    for number in 1...2_000 {
      replica.send(.moved(number))
      if number % 100 == 0 {
        await until { link.inFlightCount > 0 }
        link.acceptAll()
        for entry in log.entries.map(\.message) {
          let first = Int(entry.header.split(separator: " ")[1]) ?? 0
          let count = entry.payload.split(separator: UInt8(ascii: "\n")).count
          #expect(first + count - 1 <= durable.value)
        }
        link.deliverNext(.max)
      }
    }
    await link.settle(replica)
    #expect(replica.confirmed.current()?.card.moves == 2_001_000)
    await replica.close()
  }

  @Test func `O6 a failed synchronization stops the replica and sends nothing`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let link = log.manualLink()
    let replica = try makeReplica(
      link, keptIn: folder.url.path,
      durability: .synchronized { _ in
        errno = EIO
        return -1
      })

    let sent = replica.send(.said("1"))

    await until { replica.progress.current()?.phase == .stopped }
    guard case .notSynchronized? = replica.progress.current()?.trouble else {
      Issue.record("\(String(describing: replica.progress.current()))")
      return
    }
    #expect(await sent.failure() != nil)
    #expect(link.inFlightCount == 0 && log.entries == [])
    await replica.close()

    // The operating system still has the line.
    let again = log.manualLink()
    let restarted = try makeReplica(again, keptIn: folder.url.path, durability: .synchronized)
    #expect(restarted.store.words == ["1"])
    await again.settle(restarted)
    #expect(log.last == 1)
    await restarted.close()
  }
}

/// The highest number of an action in a file of pending actions.
private func lastNumber(inFile path: String) -> Int {
  let data = FileManager.default.contents(atPath: path) ?? Data()
  return data.split(separator: UInt8(ascii: "\n")).compactMap { line in
    Int(String(decoding: line, as: UTF8.self).split(separator: " ")[1])
  }.max() ?? 0
}

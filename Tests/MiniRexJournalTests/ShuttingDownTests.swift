import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import Synchronization
import TestSupport
import Testing

// The server of the article *Shutting down*.

final class OrderServer: Sendable {
  private let isAccepting = PublishedProperty(true)
  private let orders = BroadcastSource<String>()
  private let store: Store<[String], String>
  private let journal: Journal<[String], String>
  private let recording: Subscription
  private let mailing: Subscription

  init(_ file: URL, mail: @escaping @Sendable (String) async -> Void) throws {
    journal = try Journal(file)
    let reducer: Reducer<[String], String> = { orders, order in
      orders.append(order)
      return .none
    }
    let store = Store(try journal.replay([], reducer: reducer), reducer: reducer)
    self.store = store
    recording = journal.record(store)
    mailing = orders.publisher.subscribe(.unbounded) { order in
      await mail(order)
      store.send(order)
    }
  }

  /// Returns `false` if the server no longer accepts orders.
  func order(_ name: String) -> Bool {
    if !isAccepting.value { return false }
    orders.broadcast(name)
    return true
  }

  func shutDown() async throws {
    isAccepting.value = false
    await orders.delivered()
    await mailing.drained()
    try await journal.flush()
    await mailing.invalidateAndWait()
  }
}

@Suite(.light) struct ShuttingDownTests {
  @Test func `a server that shuts down finishes and records every accepted order`() async throws {
    let folder = try Folder()
    let file = folder.file("orders.journal")
    let mailed = Mutex<[String]>([])
    let server = try OrderServer(file) { order in
      await Task.yield()
      mailed.withLock { $0.append(order) }
    }

    let accepted = await withTaskGroup(of: [String].self) { group in
      for sender in 1...4 {
        group.addTask {
          (1...50).map { "\(sender) \($0)" }.filter { server.order($0) }
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    try await server.shutDown()

    #expect(!server.order("late"))
    #expect(accepted.count == 200)
    #expect(mailed.withLock { $0 }.sorted() == accepted.sorted())
    let restored = try JournalReader<[String], String>(file).replay([]) { orders, order in
      orders.append(order)
      return .none
    }
    #expect(restored.sorted() == accepted.sorted())
  }
}

import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Pending actions in a file.
@Suite(.light)
struct OutboxTests {
  @Test func `O6 the outbox survives a kill at any instruction`() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    let link = MemoryLog().manualLink(isCut: true)
    let replica = try makeReplica(link, keptIn: folder.url.path)
    var ends: [Int] = []
    func size() throws -> Int { try Data(contentsOf: folder.file("outbox")).count }
    for number in 1...5 {
      replica.send(.said("\(number)"))
      // The line is in the file when the send returns.
      ends.append(try size())
    }
    let bytes = try Data(contentsOf: folder.file("outbox"))

    // A kill during a write leaves a prefix of the file.
    for end in 0...bytes.count {
      try bytes.prefix(end).write(to: copy.file("outbox"))
      let restarted = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: copy.url.path)
      let kept = ends.count { $0 <= end }
      #expect(restarted.store.words == (1...5).prefix(kept).map { "\($0)" })
      await restarted.close()
      try FileManager.default.removeItem(at: copy.file("state"))
    }
    await replica.close()
  }

  @Test func `O15 a killed replica starts offline with its confirmed state`() async throws {
    let (folder, copy) = (try Folder(), try Folder())
    let log = MemoryLog()
    let replica = try makeReplica(log.link(), keptIn: folder.url.path)
    for number in 1...3 { replica.send(.said("\(number)")) }
    try await replica.flush()
    // A kill leaves the files as they are.
    func restoredWords() async throws -> [String] {
      for name in ["outbox", "state"] {
        try Data(contentsOf: folder.file(name)).write(to: copy.file(name))
      }
      let killed = try makeReplica(log.manualLink(isCut: true), keptIn: copy.url.path)
      let words = killed.store.words
      await killed.close()
      return words
    }
    await until { (try? await restoredWords()) == ["1", "2", "3"] }
    await replica.close()
    #expect(Set(folder.names) == ["outbox", "state"])
  }

  @Test func `O15 a killed replica shows its confirmed actions before it has read the log`()
    async throws
  {
    let (folder, copy) = (try Folder(), try Folder())
    let log = MemoryLog()
    let record = EffectRecord()
    let replica = try makeReplica(log.link(), keptIn: folder.url.path) { record.add($0) }
    for number in 1...3 { replica.send(.moved(number)) }
    replica.send(.said("confirmed"))
    try await replica.flush()
    let link = log.manualLink(isCut: true)
    // The state is written a second later.
    try Data(contentsOf: folder.file("outbox")).write(to: copy.file("outbox"))
    await replica.close()
    let killed = try makeReplica(
      link, keptIn: copy.url.path, retryAfter: .seconds(600)
    ) { record.add($0) }
    let rejections = Recorder(killed.rejections)
    #expect(killed.store.card.moves == 6 && killed.store.words == ["confirmed"])
    #expect(killed.progress.current()?.pending == 0)
    killed.send(.said("next"))
    #expect(killed.store.words == ["confirmed", "next"])
    #expect(killed.progress.current()?.oldestPending != .distantPast)

    let last = log.last
    link.connect()
    await until {
      link.acceptAll()
      link.deliverNext(.max)
      return killed.progress.current()?.sequence == last + 1
    }
    #expect(killed.store.state == killed.confirmed.current())
    #expect(killed.store.card.moves == 6 && killed.store.words == ["confirmed", "next"])
    // They were neither sent again nor do their effects run again.
    #expect(log.last == last + 1 && record.numbers == [1, 2, 3])
    #expect(rejections.updates.isEmpty)
    await killed.close()
  }

  @Test func `O9 confirmed actions that the log has lost disappear with the comparison`()
    async throws
  {
    let (folder, copy) = (try Folder(), try Folder())
    let log = MemoryLog()
    let link = log.link()
    let replica = try makeReplica(link, keptIn: folder.url.path)
    log.backUp()
    replica.send(.said("lost"))
    try await replica.flush()
    try Data(contentsOf: folder.file("outbox")).write(to: copy.file("outbox"))
    await replica.close()
    log.restore()
    let next = log.link()
    next.cut()
    let killed = try makeReplica(next, keptIn: copy.url.path)
    #expect(killed.store.words == ["lost"])
    next.connect()
    await until { killed.store.words == [] }
    killed.send(.said("next"))
    try await killed.flush()
    #expect(killed.confirmed.current()?.words == ["next"] && log.last == 1)
    #expect(killed.store.state == killed.confirmed.current())
    await killed.close()
  }

  @Test func `O7 rejections of an earlier process wait for the first subscriber`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let cut = log.link()
    cut.cut()
    let replica = try makeReplica(cut, keptIn: folder.url.path)
    replica.store.send(.claimed("job", by: "here"))
    await replica.close()
    let foreign = try makeReplica(log.link())
    foreign.send(.claimed("job", by: "there"))
    try await foreign.flush()

    let restarted = try makeReplica(log.link(), keptIn: folder.url.path)
    try await restarted.flush()
    restarted.store.send(.said("later"))
    try await restarted.flush()
    let rejections = Recorder(restarted.rejections)
    #expect(await rejections.next().map(\.action) == [.claimed("job", by: "here")])
    let late = Recorder(restarted.rejections)
    await restarted.close()
    #expect(late.updates.isEmpty && rejections.updates.count == 1)
    await foreign.close()
  }

  @Test func `O6 an action that the confirmed state contains is not pending again`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let link = log.manualLink(isCut: true)
    let replica = try makeReplica(link, keptIn: folder.url.path)
    replica.send(.said("one"))
    let outbox = try Data(contentsOf: folder.file("outbox"))
    link.connect()
    await link.settle(replica)
    await replica.close()

    // After a power failure, the outbox can be older than the state.
    try outbox.write(to: folder.file("outbox"))
    let restarted = try makeReplica(log.link(), keptIn: folder.url.path)
    #expect(restarted.store.words == ["one"])
    try await restarted.flush()
    let next = restarted.send(.said("two"))
    #expect(await next.success() != nil)
    #expect(restarted.confirmed.current()?.words == ["one", "two"])
    await restarted.close()
  }

  @Test func `a folder that a replica cannot use is an error of its initializer`() async throws {
    let folder = try Folder()
    let replica = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: folder.url.path)
    replica.send(.said("pending"))
    func failure(in path: String) -> ReplicaError? {
      #expect(throws: ReplicaError.self) {
        try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: path)
      }
    }
    guard case .notKept? = failure(in: folder.url.path), case .notKept? = failure(in: "/missing")
    else {
      Issue.record("The folder is used twice.")
      return
    }
    await replica.close()
    // An earlier version does not know the action.
    let error = #expect(throws: ReplicaError.self) {
      try Replica<Board, Int>(
        Board(), of: MemoryLog().manualLink(isCut: true), keptIn: folder.url.path
      ) { _, _ in .none }
    }
    guard case .notDecodable? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let again = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: folder.url.path)
    #expect(again.store.words == ["pending"])
    await again.close()
  }

  /// The log may have the actions behind the damage, so their numbers must not be used again.
  @Test func `O6 a damaged line is a failure, and nothing is removed`() async throws {
    let folder = try Folder()
    let replica = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: folder.url.path)
    for number in 1...3 { replica.send(.said("\(number)")) }
    await replica.close()
    let bytes = try Data(contentsOf: folder.file("outbox"))
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    var damaged = bytes
    damaged[lines[2].startIndex + 12] ^= 1
    try damaged.write(to: folder.file("outbox"))
    #expect(throws: (any Error).self) {
      _ = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: folder.url.path)
    }
    #expect(try Data(contentsOf: folder.file("outbox")) == damaged)

    // A sector that never reached the disk.
    try? FileManager.default.removeItem(at: folder.file("state"))
    var torn = bytes
    torn.replaceSubrange(lines[3].startIndex + 12..<torn.endIndex - 1, with: Data(count: 4))
    try torn.write(to: folder.file("outbox"))
    let restarted = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: folder.url.path)
    #expect(restarted.store.words == ["1", "2"])
    await restarted.close()
  }

  @Test func `O6 a line after a torn line is kept`() async throws {
    let folder = try Folder()
    for number in 1...3 {
      let replica = try makeReplica(MemoryLog().manualLink(isCut: true), keptIn: folder.url.path)
      #expect(replica.store.words == (1..<number).map { "\($0)" })
      replica.send(.said("\(number)"))
      await replica.close()
      let file = try FileHandle(forWritingTo: folder.file("outbox"))
      try file.seekToEnd()
      try file.write(contentsOf: Data("torn".utf8))
      try file.close()
    }
  }

  @Test func `O6 a folder belongs to one replica`() async throws {
    let folder = try Folder()
    let replica = try makeReplica(MemoryLog().manualLink(), keptIn: folder.url.path)

    let error = #expect(throws: ReplicaError.self) {
      _ = try makeReplica(MemoryLog().manualLink(), keptIn: folder.url.path)
    }
    #expect("\(error, default: "no error")".contains("belongs to another replica"))
    await replica.close()
  }

  @Test func `O15 a replica starts and works offline`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    do {
      let link = log.manualLink()
      let replica = try makeReplica(link, keptIn: folder.url.path)
      replica.send(.said("decided"))
      await link.settle(replica)
      link.cut()
      replica.send(.said("pending"))
      await replica.close()
    }

    let link = log.manualLink(isCut: true)
    let replica = try makeReplica(link, keptIn: folder.url.path)
    #expect(replica.store.words == ["decided", "pending"])
    #expect(replica.confirmed.current()?.words == ["decided"])
    replica.send(.said("offline"))
    link.connect()
    await link.settle(replica)

    #expect(replica.confirmed.current()?.words == ["decided", "pending", "offline"])
    #expect(log.entries.count >= 2)
    await replica.close()
  }

  @Test func `O6 a folder belongs to its replica after a compaction of the outbox`() async throws {
    let folder = try Folder()
    let link = MemoryLog().manualLink(isCut: true)
    let replica = try makeReplica(link, keptIn: folder.url.path)
    for _ in 1...1_100 { replica.send(.moved(1)) }
    link.connect()
    await link.settle(replica)
    await until { (try? Data(contentsOf: folder.file("outbox")))?.count ?? .max < 1_000 }

    #expect(throws: (any Error).self) {
      _ = try makeReplica(MemoryLog().manualLink(), keptIn: folder.url.path)
    }
    await replica.close()
  }

  @Test func `O6 a large outbox is compacted, and keeps its numbers`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    do {
      let link = log.manualLink(isCut: true)
      let replica = try makeReplica(link, keptIn: folder.url.path)
      for _ in 1...2 {
        // Without a connection, so that they are one entry. Up to 1,000 decided actions may stay in the file.
        for number in 1...1_500 { replica.send(.moved(number % 2)) }
        link.connect()
        await link.settle(replica)
        link.cut()
      }
      #expect(log.entries.count == 2)
      link.connect()
      replica.send(.moved(1))
      await link.settle(replica)
      await replica.close()
    }
    #expect(try Data(contentsOf: folder.file("outbox")).count < 1_000)

    let link = log.manualLink()
    let replica = try makeReplica(link, keptIn: folder.url.path)
    replica.send(.moved(1))
    await link.settle(replica)
    #expect(replica.confirmed.current()?.card.moves == 1_502)
    await replica.close()
  }
}

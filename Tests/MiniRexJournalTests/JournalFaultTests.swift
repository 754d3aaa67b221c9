#if os(Linux)
import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// Returns the state after this number of actions of the keeper.
private func prefix(_ count: Int) -> Ledger {
  (0..<count).reduce(into: Ledger()) { _ = keeping(&$0, action($1 + 1)) }
}

/// Keeps the inode.
private func writeInPlace(_ bytes: Data, _ path: String) throws {
  let file = try FileHandle(forUpdating: URL(filePath: path))
  try file.truncate(atOffset: 0)
  try file.write(contentsOf: bytes)
  try file.close()
}

@Suite(.light, .serialized) struct JournalFaultTests {
  private let count = 29

  /// Opens the journal of a folder, and returns the number of actions in its state.
  @discardableResult
  private func open(_ folder: Folder, _ comment: Comment) throws -> Int {
    let journal = try LedgerJournal(folder)
    let state = try journal.replay()
    #expect(state == prefix(state.count), comment)
    try journal.verify()
    return state.count
  }

  private func system(_ mode: String, _ library: FaultLibrary) async throws -> (
    calls: [SystemCall], folder: Folder
  ) {
    let folder = try Folder()
    let log = try Folder()
    let said = try await library.run(mode, in: folder, log: log.path("log"))
    #expect(said == ["\(count) sent"])
    #expect(try open(folder, "\(mode)") == count)
    return (try systemCalls(in: log.file("log")), folder)
  }

  @Test(arguments: ["everything", "latest"])
  func `J14 J18 no failed system call loses a durable commit`(mode: String) async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let calls = try await system(mode, library).calls.count { $0.kind != "n" } + 12
    let kinds: [(code: Int32?, bytes: Int)] = [
      (ENOSPC, 0), (EIO, 0), (EINTR, 0), (nil, 1), (nil, 0), (nil, 512),
    ]
    var cases = (1...calls).flatMap { at in kinds.map { (at: at, code: $0.code, bytes: $0.bytes) }
    }
    // All of them in `Scripts/soak storms`.
    cases = Array(cases.shuffled().prefix(scaled(24)))
    for fault in cases {
      let folder = try Folder()
      let said = try await library.run(mode, in: folder, fault: fault)
      let comment: Comment = "\(mode) \(fault): \(said)"
      let found = try open(folder, comment)
      #expect(found >= lastNote(in: folder), comment)
      // An interrupted or short call is not a failure.
      if fault.code == nil || fault.code == EINTR {
        #expect(said == ["\(count) sent"] && found == count, comment)
      }
      #expect(!folder.names.contains("journal.next"), comment)
    }
  }

  /// The folder has closed files that only `everything` keeps.
  @Test(arguments: ["everything", "latest"])
  func `J5 a kill before any system call loses no commit and keeps no file`(mode: String)
    async throws
  {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let calls = try await system(mode, library).calls.count { $0.kind != "n" } + 12
    for at in (1...calls).shuffled().prefix(scaled(24)) {
      let folder = try Folder()
      do {
        let journal = try LedgerJournal(folder)
        let store = Store(Ledger(), reducer: keeping)
        let recording = journal.record(store)
        for number in 1...3 {
          store.send(action(number))
          try await journal.compact()
        }
        withExtendedLifetime(recording) {}
      }
      _ = try await library.run(mode, in: folder, fault: (at: at, code: -SIGKILL, bytes: 0))
      #expect(try open(folder, "\(at)") >= max(3, lastNote(in: folder)), "\(at)")
      do {
        let journal = try LedgerJournal(
          folder, keeping: mode == "latest" ? .latestState : .everything)
        let store = Store(try journal.replay(), reducer: keeping)
        let recording = journal.record(store)
        store.send(action(store.state.count + 1))
        try await journal.compact()
        withExtendedLifetime(recording) {}
      }
      try open(folder, "\(at)")
      #expect(!folder.segments.contains { $0.hasPrefix("branch") }, "\(at)")
      if mode == "latest" { #expect(folder.segments == [], "\(at)") }
      if mode == "everything" { #expect(try LedgerJournal(folder).verify().firstNumber == 0) }
    }
  }

  /// Verifies the journal.
  ///
  /// If a state hides a hole before it, the next recording begins a new file first.
  private func verify(_ journal: LedgerJournal, _ state: Ledger) throws {
    if try journal.file.hidesLoss() {
      #expect(throws: JournalFailure.self) { try journal.verify() }
      let recording = journal.record(Store(state, reducer: keeping))
      recording.invalidate()
      #expect(journal.problem == nil)
    }
    try journal.verify()
  }

  /// Loses power after system calls.
  ///
  /// - Parameters:
  ///   - disks: The number of disks for each call. Less than 1 is a probability.
  ///   - drops: Returns `true` for a call that the mutant leaves out.
  /// - Returns: The first violation.
  private func violation(
    _ calls: [SystemCall], _ content: [ModelDisk.Content] = [], in folder: Folder, sector: Int,
    history: Bool, disks: Double, seed: UInt64, drops: (Int) -> Bool = { _ in false }
  ) throws -> String? {
    var random = SeededGenerator(seed: seed)
    var disk = ModelDisk(sector: sector, folder, content: content)
    for (index, call) in calls.enumerated() where !drops(index) {
      disk.apply(call, &random)
      if call.kind == "n" { continue }
      let tries = Int(disks + Double.random(in: 0..<1, using: &random))
      for _ in 0..<tries {
        let copy = try Folder()
        let losses: [ModelDisk.Loss] = [.everythingUnsynchronized, .nothing, .random]
        let loss = losses[min(2, Int.random(in: 0...7, using: &random))]
        try disk.write(to: copy, after: loss, &random)
        do {
          let journal = try LedgerJournal(copy)
          let state = try journal.replay()
          if state != prefix(state.count) { return "\(index): another state" }
          if state.count < disk.durable { return "\(index): \(disk.durable) is lost" }
          if history, disk.durable > 0 {
            try verify(journal, state)
            let number = Int.random(in: 0...disk.durable, using: &random)
            if try journal.replay(upTo: number) != prefix(number) { return "\(index): history" }
          }
        } catch {
          return "\(index): \(error)"
        }
      }
    }
    return nil
  }

  @Test(arguments: ["everything", "latest"], [512, 4_096])
  func `J6 no power loss revokes a durable commit or prevents the next start`(
    mode: String, sector: Int
  ) async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (calls, folder) = try await system(mode, library)
    let seed = UInt64.random(in: 0 ... .max)
    let found = try violation(
      calls, in: folder, sector: sector, history: mode == "everything",
      disks: 0.4 * min(scale, 50),
      seed: seed)
    #expect(found == nil, "seed \(seed)")
  }

  /// Returns whether the power loss finds the missing calls, in some disk.
  private func fails(
    _ calls: [SystemCall], _ content: [ModelDisk.Content] = [], in folder: Folder,
    history: Bool = false, without drops: (Int) -> Bool
  ) throws -> Bool {
    for seed in 1...12 {
      let found = try violation(
        calls, content, in: folder, sector: 512, history: history, disks: 0.8, seed: UInt64(seed),
        drops: drops)
      if found != nil { return true }
    }
    return false
  }

  @Test func `J5 each synchronization of a compaction is necessary`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (calls, folder) = try await system("everything", library)
    let top = inode(of: folder.url.path)
    let segments = inode(of: folder.path("journal.segments"))
    func isSync(_ index: Int) -> Bool {
      calls.indices.contains(index) && calls[index].kind == "s"
    }
    let next = calls.first { $0.kind == "r" }?.inode
    #expect(
      try fails(calls, in: folder) {
        isSync($0) && calls[$0].inode == next && $0 < calls.firstIndex { $0.kind == "r" } ?? 0
      })
    #expect(
      try fails(calls, in: folder) {
        isSync($0) && calls[$0].inode == top && calls[$0 - 1].kind == "r"
      })
    #expect(
      try fails(calls, in: folder, history: true) { isSync($0) && calls[$0].inode == segments })
  }

  @Test func `J6 the first line is synchronized before the second`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (calls, folder) = try await system("everything", library)
    let header = try #require(calls.firstIndex { $0.kind == "w" })
    #expect(calls[header].bytes.count { $0 == UInt8(ascii: "\n") } == 1)
    #expect(calls[header + 1].kind == "s" && calls[header + 1].inode == calls[header].inode)
    #expect(try fails(calls, in: folder) { $0 == header + 1 })
  }

  @Test func `J6 a cut is synchronized before the next line`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (folder, log) = (try Folder(), try Folder())
    _ = try folder.record(3)
    try folder.append(
      "{\"crc\":\"01234567\",\"number\":4,\"action\":\""
        + String(repeating: "x", count: 4_000), to: "journal")
    let content = [
      ModelDisk.Content(
        name: "journal", inode: inode(of: folder.path("journal")), bytes: try folder.bytes())
    ]
    _ = try await library.run("everything", in: folder, log: log.path("log"))
    let calls = try systemCalls(in: log.file("log"))
    let cut = try #require(calls.firstIndex { $0.kind == "t" })
    let next = try #require(
      calls[(cut + 1)...].firstIndex { $0.kind != "w" || $0.number >= calls[cut].number })
    #expect(calls[next].kind == "s" && calls[next].inode == calls[cut].inode)

    let seed = UInt64.random(in: 0 ... .max)
    let found = try violation(
      calls, content, in: folder, sector: 512, history: true, disks: 0.4 * min(scale, 50),
      seed: seed)
    #expect(found == nil, "seed \(seed)")
    #expect(try fails(calls, content, in: folder) { $0 == next })
  }

  @Test func `J6 a cut behind durable lines is synchronized before the next line`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (folder, log) = (try Folder(), try Folder())
    do {
      let journal = try LedgerJournal(folder)
      let store = Store(Ledger(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(1))
      try await journal.flush()
      withExtendedLifetime(recording) {}
    }
    // The released journal has vouched for its lines, so only the cut needs the disk.
    #expect(try folder.lines().last?.contains(#""synced":1,"#) == true)
    try folder.append(#"{"crc":"01234567","number":2,"action":""#, to: "journal")

    _ = try await library.run("everything", in: folder, log: log.path("log"))

    let calls = try systemCalls(in: log.file("log"))
    let cut = try #require(calls.firstIndex { $0.kind == "t" })
    #expect(calls[cut + 1].kind == "s" && calls[cut + 1].inode == calls[cut].inode)
  }

  @Test func `J14 a later process rewrites lines whose synchronization failed`() async throws {
    let tools = try Folder()
    let library = try await FaultLibrary(in: tools)
    let (folder, log) = (try Folder(), try Folder())
    // The first lines of the first process are in a sector before its snapshot.
    repeat {
      let journal = try LedgerJournal(folder, every: 0)
      let store = Store(try journal.replay(), reducer: keeping)
      let recording = journal.record(store)
      store.send(action(store.state.count + 1))
      try await journal.flush()
      withExtendedLifetime(recording) {}
    } while !(250..<300 ~= (try folder.bytes().count % 512))
    let (bytes, recorded) = (try folder.bytes(), try LedgerJournal(folder).lastNumber)
    var at = 1
    // The first fdatasync that fails is the flush.
    var calls: [SystemCall] = []
    repeat {
      for name in folder.names where name != "journal" {
        try FileManager.default.removeItem(at: folder.file(name))
      }
      try writeInPlace(bytes, folder.path("journal"))
      try? FileManager.default.removeItem(at: log.file("log"))
      _ = try await library.run(
        "die", in: folder, log: log.path("log"), fault: (at: at, code: EIO, bytes: 0))
      calls = (try? systemCalls(in: log.file("log"))) ?? []
      at += 1
    } while !(calls.last?.kind == "f" && calls.contains { $0.kind == "w" }) && at < 40
    let first = calls.count
    let content = [
      ModelDisk.Content(name: "journal", inode: inode(of: folder.path("journal")), bytes: bytes)
    ]
    #expect(try open(folder, "after the failure") == recorded + 4)
    _ = try await library.run("everything", in: folder, log: log.path("log"))
    calls = try systemCalls(in: log.file("log"))
    #expect(try open(folder, "after the second process") == recorded + 4 + count)

    let seed = UInt64.random(in: 0 ... .max)
    let found = try violation(
      calls, content, in: folder, sector: 512, history: true, disks: 0.4 * min(scale, 50),
      seed: seed)
    #expect(found == nil, "seed \(seed)")
    let rewrite = try #require(calls[first...].firstIndex { $0.kind == "w" })
    #expect(calls[rewrite].number <= bytes.count && calls[rewrite + 1].kind == "s")
    #expect(try fails(calls, content, in: folder, history: true) { $0 == rewrite })
  }
}
#endif

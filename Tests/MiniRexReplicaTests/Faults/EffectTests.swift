import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Effects around the end of a process.
@Suite(.light)
struct EffectTests {
  @Test func `O8 an effect runs once around a close`() async throws {
    for round in 0..<scaled(8) {
      let folder = try Folder()
      let link = MemoryLog().link()
      let record = EffectRecord()
      let replica = try makeReplica(link, keptIn: folder.url.path) { record.add($0) }
      try await replica.caughtUp()
      link.isDeaf = true
      for number in 1...300 {
        replica.send(.moved(number))
        if number % 10 == 0 { await replica.processed() }
      }
      async let heard: Void = onQueue { link.isDeaf = false }
      if round % 2 == 1 { try await Task.sleep(for: .microseconds(round * 40)) }
      await replica.close()
      await heard

      let next = try makeReplica(link, keptIn: folder.url.path) { record.add($0) }
      try await next.flush()
      try await next.caughtUp()
      await next.close()
      #expect(record.numbers.sorted() == Array(1...300), "round \(round)")
      #expect(next.confirmed.current()?.card.moves == 300 * 301 / 2)
    }
  }

  /// Each process is killed at random, or as soon as it has written its state.
  @Test(arguments: [false, true])
  func `O8 an effect runs at most once around a kill`(_ isSynchronized: Bool) async throws {
    let folder = try Folder()
    let path = folder.url.path
    try FileManager.default.createDirectory(
      at: folder.file("replica"), withIntermediateDirectories: true)
    var lost: [ClosedRange<Int>] = []
    for round in 0..<scaled(3) {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, round = round as Int, isSynchronized = isSynchronized as Bool] in
        try await sendUntilKilled(
          in: path, round: round, isSynchronized ? .synchronized : .written)
      }
      // The effects between the last one that began and the last decision that was recorded.
      let outbox = try OutboxLines(folder.file("replica").appending(path: "outbox"))
      let begun = try numbers(in: folder.file("effects")).compactMap { outbox.number(of: $0) }
      if let last = begun.max().map({ $0 + 1 }) ?? 1 as Int?, last <= outbox.settled {
        lost.append(last...outbox.settled)
      }
    }

    let log = try FileLog(folder.path("log"))
    let record = EffectRecord()
    let replica = try makeReplica(log, keptIn: folder.path("replica")) { record.add($0) }
    try await replica.flush()
    try await replica.caughtUp()
    await replica.close()

    let effects = try numbers(in: folder.file("effects")) + record.numbers
    #expect(Set(effects).count == effects.count)
    let all = try FileLog.values(in: folder.file("log"))
    let missing = Set(all.keys).subtracting(effects)
    #expect(all.count > 100)
    for value in missing {
      let number = all[value] ?? 0
      #expect(lost.contains { $0.contains(number) }, "\(number) of \(lost)")
    }
    // Each action is decided once, and of a killed process no action before another is missing.
    #expect(replica.confirmed.current()?.card.moves == all.keys.reduce(0, +))
    for values in Dictionary(grouping: all.keys, by: { $0 / 10_000_000 }).values {
      #expect(values.max().map { $0 % 10_000_000 } == values.count)
    }
  }

  @Test(arguments: [false, true])
  func `O8 an effect whose start a power failure prevents does not run`(
    _ isSynchronized: Bool
  ) async throws {
    let (folder, next) = (try Folder(), try Folder())
    let log = MemoryLog()
    let record = EffectRecord()
    let replica = try makeReplica(
      log.link(), keptIn: folder.url.path, durability: isSynchronized ? .synchronized : .written
    ) { number in
      record.add(number)
      // The disk has the decision when the effect starts.
      try? FileManager.default.copyItem(at: folder.file("outbox"), to: next.file("outbox"))
    }
    replica.send(.moved(1))
    try await replica.flush()
    await replica.close()
    #expect(record.numbers == [1])

    let restarted = try makeReplica(log.link(), keptIn: next.url.path) { record.add($0) }
    try await restarted.flush()
    try await restarted.caughtUp()
    #expect(record.numbers == [1])
    #expect(restarted.confirmed.current()?.card.moves == 1)
    await restarted.close()
  }

  /// The operating system has written more than the replica has asked for, or nothing more.
  @Test func `O8 an effect runs at most once around a power failure, with synchronization`()
    async throws
  {
    for seed in 0..<UInt64(scaled(30)) {
      var random = SeededGenerator(seed: seed)
      let (folder, next) = (try Folder(), try Folder())
      let log = MemoryLog()
      let link = log.link()
      let record = EffectRecord()
      let disk = Disk(folder)
      let replica = try makeReplica(
        link, keptIn: folder.url.path,
        durability: .synchronized(
          with: { disk.synchronize($0) }, files: { disk.synchronize($0) })
      ) { number in disk.ifPowered { record.add(number) } }
      disk.synchronizeNames()
      let end = Int.random(in: 1...60, using: &random)
      for number in 1...60 {
        replica.send(.moved(number))
        if number % 4 == 0 { await replica.processed() }
        if number == end { try disk.fail(into: next, using: &random) }
      }
      link.cut()
      await replica.close()

      let restarted = try makeReplica(log.link(), keptIn: next.url.path) { record.add($0) }
      try await restarted.flush()
      try await restarted.caughtUp()
      let moves = Set(restarted.confirmed.current().map { [$0.card.moves] } ?? [])
      #expect(record.repeated == [], "seed \(seed)")
      // Each entry of the log is decided once, and nothing that was sent is lost.
      let sent = log.entries.flatMap { values(in: $0.message) }
      #expect(moves == [Set(sent).reduce(0, +)], "seed \(seed)")
      await restarted.close()
    }
  }

  /// The operating system writes at arbitrary times.
  @Test func `O8 a power failure without synchronization loses the last actions only`()
    async throws
  {
    var (lossCount, stopCount) = (0, 0)
    for seed in 0..<UInt64(scaled(30)) {
      var random = SeededGenerator(seed: seed)
      let (folder, next) = (try Folder(), try Folder())
      let log = MemoryLog()
      let link = log.link()
      let record = EffectRecord()
      let disk = Disk(folder)
      let replica = try makeReplica(link, keptIn: folder.url.path) { number in
        disk.ifPowered { record.add(number) }
      }
      disk.synchronizeNames()
      let (cut, end) = (
        Int.random(in: 1...90, using: &random), Int.random(in: 1...60, using: &random)
      )
      for number in 1...end {
        if number == cut { link.cut() }
        replica.send(.moved(number))
        if number % 4 == 0 { await replica.processed() }
        if number % 5 == 0 { disk.writeBack(using: &random) }
      }
      try disk.fail(into: next, using: &random)
      link.cut()
      await replica.close()

      var restarted = try makeReplica(log.link(), keptIn: next.url.path) { record.add($0) }
      do {
        try await restarted.flush()
        try await restarted.caughtUp()
      } catch {
        // The log has actions that the outbox has lost.
        #expect(restarted.progress.current()?.trouble == .originInUse, "seed \(seed)")
        stopCount += 1
        await restarted.close()
        restarted = try makeReplica(log.link(), keptIn: nil) { record.add($0) }
        try await restarted.caughtUp()
      }
      let sent = Set(log.entries.flatMap { values(in: $0.message) })
      #expect(sent == Set(1..<sent.count + 1), "seed \(seed)")
      #expect(restarted.confirmed.current()?.card.moves == sent.reduce(0, +), "seed \(seed)")
      #expect(sent.isSuperset(of: record.numbers), "seed \(seed)")
      let counts = Dictionary(grouping: record.numbers) { $0 }.mapValues(\.count)
      #expect(counts.values.allSatisfy { $0 <= 2 }, "seed \(seed)")
      if sent.count < end { lossCount += 1 }
      await restarted.close()
    }
    #expect(scale < 1 || lossCount > 0 && stopCount > 0)
  }

  @Test func `O8 a power failure may repeat an effect without synchronization`() async throws {
    let (folder, next) = (try Folder(), try Folder())
    let log = MemoryLog()
    let record = EffectRecord()
    let link = log.link()
    let replica = try makeReplica(link, keptIn: folder.url.path) { record.add($0) }
    // On a busy machine, the decision could be in the file before it is copied.
    link.cut()
    replica.send(.moved(1))
    let bytes = try Data(contentsOf: folder.file("outbox"))
    link.connect()
    try await replica.flush()
    await replica.close()
    // The disk has the action, and not the decision about it.
    try bytes.write(to: next.file("outbox"))
    let restarted = try makeReplica(log.link(), keptIn: next.url.path) { record.add($0) }
    try await restarted.flush()
    #expect(record.numbers == [1, 1])
    #expect(restarted.confirmed.current()?.card.moves == 1)
    await restarted.close()
  }

  @Test func `O8 no effect runs whose decision cannot be recorded`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let record = EffectRecord()
    let count = Shared(0)
    let replica = try makeReplica(
      log.link(), keptIn: folder.url.path,
      durability: .synchronized { _ in
        errno = EIO
        // The line and the decision of the first action, the line and the decision of the second.
        return count.increment() == 4 ? -1 : 0
      }
    ) { record.add($0) }
    let first = replica.send(.moved(1))
    #expect(await first.success() != nil)
    let second = replica.send(.moved(2))
    guard case .stopped(.notSynchronized)? = await second.failure() else {
      Issue.record("The action was confirmed.")
      return
    }
    #expect(record.numbers == [1] && replica.confirmed.current()?.card.moves == 1)
    #expect(log.last == 2)
    await replica.close()
  }
}

/// Sends actions until the process is killed.
private func sendUntilKilled(
  in path: String, round: Int, _ durability: ReplicaDurability
) async throws {
  let log = try FileLog(path + "/log")
  let effects = unsafe open(path + "/effects", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
  let folder = path + "/replica"
  let replica = try makeReplica(log, keptIn: folder, durability: durability) { number in
    let line = Array("\(number)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(effects, $0.baseAddress, $0.count) }
  }
  @Sendable func state() -> UInt64 {
    var status = stat()
    return unsafe stat(folder + "/state", &status) == 0 ? UInt64(status.st_ino) : 0
  }
  let old = state()
  onNewThread {
    if round % 2 == 0 {
      while state() == old { usleep(20) }
    } else {
      usleep(UInt32.random(in: 1_000...60_000))
    }
    kill(getpid(), SIGKILL)
  }
  var number = round * 10_000_000
  while true {
    for _ in 0..<20 {
      number += 1
      replica.send(.moved(number))
    }
    usleep(500)
  }
}

/// The actions and the decisions in a file of pending actions.
private struct OutboxLines {
  private(set) var settled = 0
  private var numbers: [Int: Int] = [:]

  init(_ url: URL) throws {
    for line in try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")) {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2)
      if words.count == 3, words[1] == "=" { settled = Int(words[2]) ?? 0 }
      if words.count == 3, let number = Int(words[1]), let value = movedValue(words[2]) {
        numbers[value] = number
      }
    }
  }

  func number(of value: Int) -> Int? { numbers[value] }
}

extension FileLog {
  /// The values of the actions in a file, with their numbers.
  fileprivate static func values(in url: URL) throws -> [Int: Int] {
    var all: [Int: Int] = [:]
    for line in try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")) {
      guard let words = try? JSONDecoder().decode([String].self, from: line) else { continue }
      let first = Int(words[0].split(separator: " ")[1]) ?? 0
      for (index, text) in words[1].split(separator: "\n").enumerated() {
        if let value = movedValue(text) { all[value] = first + index }
      }
    }
    return all
  }
}

private func movedValue(_ text: Substring) -> Int? {
  guard let start = text.range(of: #""_0":"#) else { return nil }
  return Int(text[start.upperBound...].prefix { $0.isNumber })
}

private func values(in message: ReplicaMessage) -> [Int] {
  String(decoding: message.payload, as: UTF8.self).split(separator: "\n").compactMap(movedValue)
}

private func numbers(in url: URL) throws -> [Int] {
  guard let data = try? Data(contentsOf: url) else { return [] }
  return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }
}

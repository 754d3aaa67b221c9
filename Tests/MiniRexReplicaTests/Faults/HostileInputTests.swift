import Foundation
import MiniRex
import MiniRexJournal
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Files, entries, and snapshots that a stranger has written.
@Suite(.light)
struct HostileInputTests {
  @Test func `O11 a snapshot with numbers out of range is reported, like garbage`() async throws {
    let text = try await snapshot()
    let forged = [
      #""count":2"#: ["-1", "9223372036854775807", "-9223372036854775808", "9007199254740992"],
      #""number":2"#: ["-1", "9223372036854775807", "-9223372036854775808", "36028797018963968"],
      #""sequence":2"#: ["0", "18446744073709551615", "9223372036854775808"],
    ]
    for (field, numbers) in forged {
      #expect(text.contains(field), "\(text)")
      for number in numbers + ["{}"] {
        let new = field.prefix { $0 != ":" } + ":" + number
        let trouble = try await load(text.replacing(field, with: new))
        guard case .snapshot? = trouble else {
          Issue.record("\(new): \(String(describing: trouble))")
          continue
        }
      }
    }
    guard case .snapshot? = try await load("garbage") else {
      Issue.record("Garbage is a snapshot.")
      return
    }
  }

  @Test func `O11 stale answers that a log has no snapshot stop no replica`() async throws {
    let log = HostileLog(beginning: [
      .connected(ReplicaLogState(first: 2, last: 3, lastTime: 0, entry: nil))
    ])
    log.snapshots.value = [Data(try await snapshot().utf8), nil, nil, nil, nil, nil]
    let replica = try makeReplica(log, keptIn: nil, retryAfter: .milliseconds(1)) { _ in }
    await until { replica.progress.current()?.phase != .offline }
    #expect(replica.progress.current()?.trouble == nil)
    #expect(replica.confirmed.current()?.words == ["1", "2"])
    await replica.close()
  }

  /// They are only compared, so each is usable.
  @Test func `O11 a snapshot with times at the ends of their range is read`() async throws {
    let text = try await snapshot()
    for time in [Int64.min, .max] {
      let forged = text.replacing(/"number":2,"time":[0-9]+/, with: #""number":2,"time":\#(time)"#)
      #expect(forged != text)
      #expect(try await load(forged) == nil)
    }
  }

  @Test func `no snapshot stops the process`() async throws {
    let text = try await snapshot()
    for seed in 0..<UInt64(scaled(300)) {
      var forger = Forger(seed: seed)
      var data = Data(forger.fields(text).utf8)
      if seed % 2 == 0 { data = forger.bytes(data) }
      let log = HostileLog(beginning: [connected(&forger)])
      log.snapshots.value = [data, data]
      try await run(log, &forger)
    }
  }

  @Test func `no entry stops the process`() async throws {
    for seed in 0..<UInt64(scaled(300)) {
      var forger = Forger(seed: seed)
      var beginning = ReplicaLogEvent.connected(
        ReplicaLogState(first: 1, last: 0, lastTime: 0, entry: nil))
      if seed % 3 == 0 { beginning = connected(&forger) }
      try await run(HostileLog(beginning: [beginning]), &forger)
    }
  }

  @Test func `no file stops the process`() async throws {
    let folder = try Folder()
    let log = MemoryLog()
    let link = log.link()
    let replica = try makeReplica(link, keptIn: folder.url.path)
    for number in 1...4 { replica.send(.said("\(number)")) }
    try await replica.flush()
    link.cut()
    for number in 5...8 { replica.send(.said("\(number)")) }
    await replica.close()
    let names = ["outbox", "state"]
    let files = try names.map { try Data(contentsOf: folder.file($0)) }
    for seed in 0..<UInt64(scaled(300)) {
      var forger = Forger(seed: seed)
      for (name, file) in zip(names, files) {
        var data = file
        if seed % 3 != 0 {
          let lines = forger.fields(String(decoding: file, as: UTF8.self))
          data = name == "outbox" ? checked(lines) : Data(lines.utf8)
        }
        if seed % 3 != 1 { data = forger.bytes(data) }
        try data.write(to: folder.file(name))
      }
      let restarted: Replica<Board, BoardAction>
      do {
        restarted = try makeReplica(
          log.link(), keptIn: folder.url.path)
      } catch {
        guard error is ReplicaError else {
          Issue.record("\(error)")
          continue
        }
        continue
      }
      restarted.send(.said("next"))
      restarted.send(.said("after"))
      await restarted.processed()
      await restarted.processed()
      await restarted.close()
    }
  }

  /// Returns a snapshot after two actions.
  private func snapshot() async throws -> String {
    let log = MemoryLog(snapshotEvery: 2)
    let link = log.link()
    let replica = try makeReplica(link)
    replica.send(.said("1"))
    try await replica.flush()
    replica.send(.said("2"))
    try await replica.flush()
    await until { log.snapshotCount == 1 }
    await replica.close()
    let data = try #require(await link.snapshot(through: .max).result).get()
    return String(decoding: try #require(data), as: UTF8.self)
  }

  /// Returns the first trouble of a replica that needs a snapshot, or `nil` if it uses it.
  private func load(_ text: String) async throws -> ReplicaTrouble? {
    let log = HostileLog(beginning: [
      .connected(ReplicaLogState(first: 2, last: 3, lastTime: 0, entry: nil))
    ])
    log.snapshots.value = Array(repeating: Data(text.utf8), count: 20)
    let replica = try makeReplica(
      log, keptIn: nil, retryAfter: .milliseconds(1)
    ) { _ in }
    let troubles = Recorder(replica.troubles)
    await until {
      !troubles.updates.isEmpty || replica.progress.current()?.phase != .offline
    }
    await replica.close()
    return troubles.updates.first
  }

  private func connected(_ forger: inout Forger) -> ReplicaLogEvent {
    let entry = Bool.random(using: &forger.random) ? entry(&forger) : nil
    return .connected(
      ReplicaLogState(
        first: forger.sequence(), last: forger.sequence(), lastTime: forger.time(), entry: entry))
  }

  private func entry(_ forger: inout Forger) -> ReplicaLogEntry {
    let number = Int.random(in: 1...4, using: &forger.random)
    let header = forger.fields("origin \(number) \(number - 1) 7")
    var payload = Data((#"{"said":{"_0":"1"}}"# + "\n" + #"{"moved":{"_0":2}}"#).utf8)
    if Int.random(in: 0..<8, using: &forger.random) == 0 { payload = forger.bytes(payload) }
    return ReplicaLogEntry(
      sequence: forger.sequence(), time: forger.time(),
      ReplicaMessage(header: header, payload: payload))
  }

  /// Sends entries and connections to a replica, in a random order.
  private func run(_ log: HostileLog, _ forger: inout Forger) async throws {
    let replica = try Replica<Board, BoardAction>(
      Board(), of: log, retryAfter: .seconds(600),
      reducer: { board, action in
        // The state has any numbers after a snapshot.
        if case .moved = action { return .none }
        return reduce(&board, action)
      }, validating: validate)
    replica.send(.said("own"))
    for _ in 0..<12 {
      switch Int.random(in: 0..<10, using: &forger.random) {
      case 0: log.events.broadcast(connected(&forger))
      case 1: log.events.broadcast(.current)
      case 2: log.events.broadcast(.disconnected)
      case 3: await replica.processed()
      default: log.events.broadcast(.entry(entry(&forger)))
      }
    }
    await replica.processed()
    _ = replica.progress.current().map { "\($0)" }
    await replica.close()
  }

  /// Gives each line its checksum.
  private func checked(_ text: String) -> Data {
    var data = Data()
    for line in text.split(separator: "\n") {
      let body = Array(line.utf8.dropFirst(9))
      let sum = String(Checksum.of(body[...]), radix: 16)
      data += Data((String(repeating: "0", count: 8 - sum.count) + sum + " ").utf8)
      data += body + [UInt8(ascii: "\n")]
    }
    return data
  }
}

import Foundation
import MiniRexJournal
import TestSupport
import Testing

@testable import MiniRexReplica

/// The decoders of snapshots, files, and entries, with bytes and numbers that a stranger has written.
///
/// `MINIREX_SCALE=250` makes it a million inputs of each.
@Suite(.heavy)
struct HostileDecoderTests {
  private static let decided =
    #"{"count":7,"position":{"checksum":5,"sequence":4,"time":1764205323100000000},"#
    + #""state":{"card":{"moves":3},"owners":{"a":"b"},"words":["1","2"]},"#
    + #""table":{"origin":{"number":7,"time":1764205323100000000}}}"#

  @Test func `no state of a snapshot or of a file stops the process`() {
    let decoder = makeDecoder()
    let kept = #"{"decided":\#(Self.decided),"settled":3}"#
    var (snapshots, files) = (0, 0)
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      let state = try? decoder.decode(
        DecidedState<Board>.self, from: forger.forge(Self.decided))
      if let state {
        snapshots += 1
        use(state, &forger)
      }
      if let kept = try? decoder.decode(KeptState<Board>.self, from: forger.forge(kept)) {
        files += 1
        use(kept.decided, &forger)
      }
    }
    // An input that is never read would test nothing.
    #expect(min(snapshots, files) > scaled(200), "\(snapshots), \(files)")
  }

  @Test func `no line of an outbox stops the process`() {
    let lines = [
      "ORIGIN 6f1c", "= 2", "3 {\"said\":{\"_0\":\"3\"}}", "4 {\"said\":{\"_0\":\"4\"}}",
      "> 4 1764205323",
    ]
    var count = 0
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      // With their checksums, forged lines are read.
      var file: [UInt8] = []
      for line in lines {
        let forged = seed % 3 == 0 ? line : forger.fields(line)
        file += OutboxContent.line("", Data(forged.utf8))
      }
      if seed % 3 != 1 { file = [UInt8](forger.bytes(Data(file))) }
      guard let content = try? OutboxContent(file) else { continue }
      count += 1
      _ = (content.next, content.settled)
      let actions = content.lines.map {
        PendingAction(
          number: $0.number, line: $0.line, box: ActionBox(1), foreign: 0, source: nil,
          date: Date(),
          sentAt: content.marks.first?.second)
      }
      var pending = PendingActions(
        next: content.next, actions: actions, settled: content.settled, durable: .max)
      pending.hasConnected(isHeld: false)
      _ = (pending.undecided, pending.hasSettled, pending.lastSent(before: .max))
      _ = pending.takeEntry(of: "origin", through: .max, at: 1)?.message
      _ = pending.removeFirst(through: forger.number())
    }
    #expect(count > scaled(1_000))
  }

  @Test func `no header of an entry stops the process`() {
    var table = DecisionTable()
    var count = 0
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      let text = String(decoding: forger.forge("origin 3 2 7"), as: UTF8.self)
      guard let header = EntryHeader(text) else { continue }
      count += 1
      _ = table.accept(
        header, lines: Int.random(in: 1...64, using: &forger.random), at: forger.time())
      table.prune(at: forger.time())
      if seed % 100 == 0 { table = DecisionTable() }
    }
    #expect(count > scaled(1_000))
  }

  @Test func `no truncated state, line, or header stops the process`() {
    let decoder = makeDecoder()
    let kept = #"{"decided":\#(Self.decided),"settled":3}"#
    var forger = Forger(seed: 0)
    let outbox = ["ORIGIN 6f1c", "= 2", #"3 {"said":{"_0":"3"}}"#, "> 4 1764205323"]
    let file = outbox.flatMap { OutboxContent.line("", Data($0.utf8)) }
    var (states, files, outboxes, headers) = (0, 0, 0, 0)
    for input in [Array(Self.decided.utf8), Array(kept.utf8), file, Array("origin 3 2 7".utf8)] {
      // Each decoder receives each input.
      for count in 0...input.count {
        let bytes = Array(input.prefix(count))
        if let state = try? decoder.decode(DecidedState<Board>.self, from: Data(bytes)) {
          states += 1
          use(state, &forger)
        }
        if let kept = try? decoder.decode(KeptState<Board>.self, from: Data(bytes)) {
          files += 1
          use(kept.decided, &forger)
        }
        if (try? OutboxContent(bytes)) != nil { outboxes += 1 }
        if EntryHeader(String(decoding: bytes, as: UTF8.self)) != nil { headers += 1 }
      }
    }
    // An input that is never read would test nothing.
    #expect(states == 1 && files == 1 && outboxes > 3 && headers > 0)
  }

  /// Does what a replica does with a state before and during the next entry.
  private func use(_ state: DecidedState<Board>, _ forger: inout Forger) {
    var state = state
    _ = state.sequence
    for header in ["origin 8 7", "origin 9007199254740990 9007199254740989", "other 1 0"] {
      guard let header = EntryHeader(header) else { continue }
      let lines = Int.random(in: 1...64, using: &forger.random)
      if case .decide(let skipped) = state.table.accept(header, lines: lines, at: forger.time()) {
        state.count += lines - skipped
      }
    }
    state.table.prune(at: forger.time())
    _ = state.table.last(of: "origin")
    _ = try? makeEncoder().encode(state)
  }
}

extension Forger {
  fileprivate mutating func number() -> Int { Int(truncatingIfNeeded: sequence()) }
}

import Foundation
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexInspector

@Suite(.light) struct CommitLogTests {
  func add(_ state: some Encodable, _ number: Int, to log: inout CommitLog) throws {
    let flat = try FlatState(state)
    guard let last = log.state else { return log.begin(number, flat) }
    log.add(number, "cause", Date(), .success((flat, flat.changes(since: last))))
  }

  @Test func `the log computes each earlier state`() throws {
    var random = SeededGenerator(seed: 7)
    var settings = Settings()
    settings.commits = 50
    var log = CommitLog(settings)
    var state: [String: [Int]] = [:]
    var states: [FlatState] = []
    for number in 0..<300 {
      let key = "\(Int.random(in: 0..<6, using: &random))"
      switch Int.random(in: 0..<4, using: &random) {
      case 0: state[key] = nil
      case 1: state[key] = []
      default: state[key, default: []].append(number)
      }
      states.append(try FlatState(state))
      try add(state, number, to: &log)
    }
    #expect(log.entries.map(\.number) == Array(250..<300))
    for number in 250..<300 { #expect(log.state(after: number) == states[number].values) }
    #expect(log.state(after: 249) == nil && log.state(after: 300) == nil)
  }

  @Test func `the log bounds the size of its changes, and omits changes that exceed it`()
    throws
  {
    var settings = Settings()
    settings.bytes = 10_000
    var log = CommitLog(settings)
    for number in 0...100 {
      try add(["text": String(repeating: "\(number % 10)", count: 1_000)], number, to: &log)
    }
    #expect((3...5).contains(log.entries.count) && log.entries.last?.number == 100)

    let large = ["text": String(repeating: "x", count: 20_000)]
    try add(large, 101, to: &log)
    #expect(log.entries.count == 1 && log.entries[0].changes == nil)
    #expect(log.entries[0].changeCount == 1)
    #expect(log.state(after: 101) == (try FlatState(large).values))
    struct Failure: Error {}
    log.add(102, "cause", Date(), .failure(Failure()))
    #expect(log.entries.last?.failure == "Failure()")
    #expect(log.state(after: 102) == (try FlatState(large).values))
  }
}

import Foundation
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

/// A state whose JSON has secrets in its keys and values.
private struct Patients: Codable, Sendable {
  var records: [String: Record] = [:]

  struct Record: Codable, Sendable { var visits: [String] = [] }
}

/// The same state, with another type for each visit.
private struct ChangedPatients: Codable, Sendable {
  var records: [String: Record] = [:]

  struct Record: Codable, Sendable { var visits: [Kind] = [] }

  enum Kind: String, Codable, Sendable { case routine }
}

private indirect enum Nest: Codable, Sendable {
  case end(String)
  case deeper(Nest)
}

private indirect enum OtherNest: Codable, Sendable {
  case end(Int)
  case deeper(OtherNest)
}

extension JournalTests {
  /// Records one state, and returns the failure of a replay with another type.
  private func failure<State: Codable & Sendable, Other: Codable & Sendable>(
    _ state: State, as other: Other
  ) throws -> JournalFailure {
    let folder = try Folder()
    do {
      let journal = try Journal<State, Int>(folder.journal)
      let recording = journal.record(Store(state) { (_: inout State, _: Int) in .none })
      withExtendedLifetime(recording) {}
    }
    let journal = try Journal<Other, Int>(folder.journal)
    return try #require(
      #expect(throws: JournalFailure.self) { try journal.replay(other) { _, _ in .none } })
  }

  @Test func `J31 the text of a failure has a coding path and no value`() throws {
    let state = Patients(records: ["Ada": .init(visits: ["routine", "surgery"])])
    let failure = try failure(state, as: ChangedPatients())

    #expect(
      failure
        == .unreadable(number: 0, "a value is invalid at .records.*.visits[1]"))
  }

  @Test func `J31 the text of a failure deep in a state has at most 300 characters`() throws {
    let nest = (0..<80).reduce(Nest.end("secret")) { nest, _ in .deeper(nest) }
    let text = "\(try failure(nest, as: OtherNest.end(0)))"

    #expect(text.count <= 300)
    #expect(text.contains("is not of type Int") && text.contains("deeper"))
    #expect(!text.contains("secret"))
  }
}

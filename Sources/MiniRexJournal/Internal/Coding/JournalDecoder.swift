#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Decodes the actions and states of lines, after the changes to their versions.
struct JournalDecoder<State: Codable & Sendable, Action: Codable & Sendable> {
  private let upcasting: JournalUpcasting
  private let decoder = makeDecoder()

  init(_ upcasting: JournalUpcasting) { self.upcasting = upcasting }

  func state(of line: JournalLine) throws(JournalFailure) -> State { try decode(line) }

  func action(of line: JournalLine) throws(JournalFailure) -> Action { try decode(line) }

  private func decode<Value: Decodable>(_ line: JournalLine) throws(JournalFailure) -> Value {
    let payload = try upcasting.payload(of: line)
    if Value.self == JournalText.self,
      let text = JournalText(json: String(decoding: payload, as: UTF8.self)) as? Value
    {
      return text
    }
    do {
      return try decoder.decode(Value.self, from: Data(payload))
    } catch {
      throw .unreadable(number: line.number, codingFailure(error))
    }
  }
}

extension JournalUpcasting {
  var actionVersion: Int { actions.count + 1 }
  var stateVersion: Int { states.count + 1 }

  /// Throws `newer` if a later version of the program wrote the line.
  func check(_ line: JournalLine) throws(JournalFailure) {
    if keepsVersions { return }
    if line.version > (line.kind == .action ? actionVersion : stateVersion) {
      throw .newer(number: line.number, version: line.version)
    }
  }

  /// Returns the JSON of the newest version.
  func payload(of line: JournalLine) throws(JournalFailure) -> ArraySlice<UInt8> {
    try check(line)
    let changes = (line.kind == .action ? actions : states).dropFirst(max(line.version, 1) - 1)
    if changes.isEmpty || keepsVersions { return line.payload }
    do {
      var value = try JSONParser.value(of: line.payload)
      for change in changes { try change(&value) }
      return value.text[...]
    } catch {
      throw .unreadable(number: line.number, "upcasting failed, because \(codingFailure(error))")
    }
  }
}

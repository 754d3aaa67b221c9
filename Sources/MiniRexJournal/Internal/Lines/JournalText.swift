/// An action or a state as its JSON, for a program without the types.
package struct JournalText: Codable, Sendable, Hashable {
  package let json: String

  init(json: String) { self.json = json }

  /// Throws, because only a journal's decoder has the text.
  package init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: "The text is available to a journal only."))
  }

  /// Throws, because the text has a version that only its line knows.
  package func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self, .init(codingPath: [], debugDescription: "The text can be read only."))
  }
}

extension JournalUpcasting {
  /// Reads lines of any version, and keeps the version of a state in a new file.
  package static let keepingVersions: JournalUpcasting = {
    var upcasting = JournalUpcasting()
    upcasting.keepsVersions = true
    return upcasting
  }()
}

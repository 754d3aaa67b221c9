import Foundation

/// Writes one JSON object per line to standard error.
struct Log: Sendable {
  private struct Line: Encodable {
    let time: Date
    let event: String
    let fields: [String: Field]

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(_ name: String) { stringValue = name }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(time, forKey: Key("time"))
      try container.encode(event, forKey: Key("event"))
      for (name, field) in fields {
        switch field {
        case .text(let text): try container.encode(text, forKey: Key(name))
        case .number(let number): try container.encode(number, forKey: Key(name))
        }
      }
    }
  }

  enum Field: Sendable, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    case text(String)
    case number(Int)

    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int) { self = .number(number) }
  }

  func callAsFunction(_ event: String, _ fields: [String: Field] = [:]) {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(Line(time: Date(), event: event, fields: fields))
    else { return }
    FileHandle.standardError.write(line + Data("\n".utf8))
  }
}

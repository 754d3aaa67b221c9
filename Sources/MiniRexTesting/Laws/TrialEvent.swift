/// An update of a publisher of any kind, or its end.
enum TrialEvent: Equatable, Sendable, CustomStringConvertible {
  case update(Int)
  case result(Int)
  case failure(String)
  case end

  static func result<Failure>(_ result: Result<Int, Failure>) -> TrialEvent {
    switch result {
    case .success(let number): .result(number)
    case .failure(let failure): .failure("\(failure)")
    }
  }

  var number: Int? {
    switch self {
    case .update(let number), .result(let number): number
    case .failure, .end: nil
    }
  }

  var description: String {
    switch self {
    case .update(let number): "\(number)"
    case .result(let number): "the result \(number)"
    case .failure(let failure): "the failure \(failure)"
    case .end: "the end"
    }
  }

  /// The character in a picture, which is a question mark for large numbers.
  var letter: Character {
    switch self {
    case .update(let number), .result(let number): TrialEvent.letter(of: number)
    case .failure: "✗"
    case .end: "|"
    }
  }

  static func letter(of number: Int) -> Character {
    let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
    return letters.indices.contains(number) ? letters[number] : "?"
  }
}

extension [TrialEvent] {
  var words: String {
    isEmpty ? "nothing" : map(\.description).joined(separator: ", ")
  }
}

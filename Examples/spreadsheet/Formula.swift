import Foundation
import MiniRex
import Synchronization

/// The shown value of a cell.
enum Value: Hashable, Sendable, CustomStringConvertible {
  case number(Double)
  case text(String)
  case failure(Failure)

  var description: String {
    switch self {
    case .number(let number): String(format: "%.9g", number)
    case .text(let text): text
    case .failure(let failure): failure.rawValue
    }
  }

  /// The number for a calculation, in which texts count as zero.
  func number() throws(Failure) -> Double {
    if case .failure(let failure) = self { throw failure }
    return if case .number(let number) = self { number } else { 0 }
  }
}

enum Failure: String, Error {
  case cycle = "#CYCLE!"
  case division = "#DIV/0!"
  case syntax = "#SYNTAX!"
}

/// The input of a user: a number, a text, or a formula such as
/// `=(A1 + 2) * SUM(B1:B9) / IF(C1, 2, D1)`.
struct Content: Sendable {
  /// How many times a formula has been calculated.
  static let calculationCount = Atomic(0)

  /// The cells that this closure reads are the dependencies of the computed value.
  let calculate: @Sendable (_ read: inout ValueReader) -> Value
  /// All cells in the formula.
  var references: [Int] = []
  /// The rest of a formula from its first mistake on, or `nil` without a mistake.
  var misunderstood: String?

  static func constant(_ value: Value) -> Content { Content { _ in value } }

  /// - Parameter values: The shown values of the cells.
  static func entered(_ text: String, _ values: [PublishedValue<Value>]) -> Content {
    if text.first != "=" { return constant(Double(text).map { .number($0) } ?? .text(text)) }
    var parser = Parser(values: values, rest: text.uppercased().filter { $0 != " " }.dropFirst())
    // The limit also bounds how deeply a formula is nested.
    guard text.count <= 1_000, let calculation = try? parser.operation(), parser.rest.isEmpty else {
      var content = constant(.failure(.syntax))
      content.misunderstood = text.count > 1_000 ? String(text.prefix(20)) : String(parser.rest)
      return content
    }
    let calculate: @Sendable (inout ValueReader) -> Value = { read in
      calculationCount.add(1, ordering: .relaxed)
      do throws(Failure) { return .number(try calculation(&read)) } catch { return .failure(error) }
    }
    return Content(calculate: calculate, references: parser.references)
  }
}

private typealias Calculation = @Sendable (inout ValueReader) throws(Failure) -> Double

private struct Parser {
  let values: [PublishedValue<Value>]
  var rest: Substring
  var references: [Int] = []

  mutating func operation(level: Int = 0) throws(Failure) -> Calculation {
    if level == 2 { return try operand() }
    var result = try operation(level: level + 1)
    while let symbol = take(["+-", "*/"][level]) {
      let (left, right) = (result, try operation(level: level + 1))
      result = { read throws(Failure) in
        let (a, b) = (try left(&read), try right(&read))
        if symbol == "/", b == 0 { throw .division }
        return symbol == "+" ? a + b : symbol == "-" ? a - b : symbol == "*" ? a * b : a / b
      }
    }
    return result
  }

  private mutating func operand() throws(Failure) -> Calculation {
    if take("-") != nil {
      let operand = try operand()
      return { read throws(Failure) in -(try operand(&read)) }
    }
    let word = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") }
    rest.removeFirst(word.count)
    if take("(") != nil {
      let result = try word.isEmpty ? operation() : word == "IF" ? choice() : sum(word)
      guard take(")") != nil else { throw .syntax }
      return result
    }
    if let cell = Grid.cell(word) {
      references.append(cell)
      return { [value = values[cell]] read throws(Failure) in try read(value).number() }
    }
    guard let number = Double(word) else { throw .syntax }
    return { _ in number }
  }

  /// Reads only the chosen operand.
  private mutating func choice() throws(Failure) -> Calculation {
    var operands = [try operation()]
    while take(",") != nil { operands.append(try operation()) }
    guard operands.count == 3 else { throw .syntax }
    return { [operands] read throws(Failure) in
      try operands[operands[0](&read) != 0 ? 1 : 2](&read)
    }
  }

  /// The sum of the numbers in a range.
  private mutating func sum(_ function: Substring) throws(Failure) -> Calculation {
    let corners = rest.prefix { $0 != ")" }.split(separator: ":").compactMap(Grid.cell)
    guard function == "SUM", corners.count == 2, corners[0] <= corners[1] else { throw .syntax }
    rest = rest.drop { $0 != ")" }
    let columns = corners.map { $0 % Grid.columns.count }
    let range = (corners[0]...corners[1]).filter {
      columns[0] <= $0 % Grid.columns.count && $0 % Grid.columns.count <= columns[1]
    }
    references += range
    return { [cells = range.map { values[$0] }] read throws(Failure) in
      // All cells are read before a failure ends the loop, so the dependencies stay the same.
      var sum = 0.0
      for value in cells.map({ read($0) }) { sum += try value.number() }
      return sum
    }
  }

  private mutating func take(_ symbols: String) -> Character? {
    guard let first = rest.first, symbols.contains(first) else { return nil }
    return rest.removeFirst()
  }
}

/// The places of a sheet, where a cell has a number, counted row by row, and a name such as `B12`.
enum Grid {
  static let columns = 0..<100
  static let rows = 0..<1_000
  static let cells = 0..<columns.count * rows.count

  /// Returns the number of the cell with this name, or `nil` outside of the sheet.
  static func cell(_ name: some StringProtocol) -> Int? {
    let letters = name.prefix { $0.isASCII && $0.isLetter }
    guard 1...2 ~= letters.count, let row = Int(name.dropFirst(letters.count)) else { return nil }
    let column = letters.uppercased().utf8.reduce(0) { $0 * 26 + Int($1) - 64 } - 1
    guard columns ~= column, rows ~= row - 1 else { return nil }
    return (row - 1) * columns.count + column
  }

  static func name(ofColumn column: Int) -> String {
    let letters = (column < 26 ? [] : [column / 26 - 1]) + [column % 26]
    return String(letters.map { Character(UnicodeScalar(UInt8(65 + $0))) })
  }
}

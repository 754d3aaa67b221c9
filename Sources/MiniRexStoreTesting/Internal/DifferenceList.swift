/// The place of a value, as an index into the names of a `DifferenceList`.
struct DifferencePath {
  static let root = DifferencePath(index: -1)

  let index: Int
}

enum DifferenceName {
  case member(String)
  case index(Int)
  case id(Any)
  case key(Any)
}

/// A change of the rows of a list.
enum RowChange: Int, CaseIterable { case added, removed, moved, changed }

/// A bounded list of differences.
///
/// A list in the state has few lines for each kind of change, and one line that counts the other rows.
struct DifferenceList {
  private struct Row {
    let list: Int
    var lineCount = 0
    var isHidden = false
  }

  private struct List {
    let path: DifferencePath
    let row: Int?
    var shown: [RowChange: Int] = [:]
    var hidden: [RowChange: Int] = [:]
  }

  private static let lineLimit = 30
  /// The number of rows with lines, for each kind of change of a list.
  private static let changeLimit = 5
  private static let rowLineLimit = 5

  private let root: String
  private var names: [(name: DifferenceName, parent: Int)] = []
  private var rows: [Row] = []
  private var lists: [List] = []
  private var lines: [String] = []
  private var omitted = 0

  init(of root: String) { self.root = root }

  var all: [String] {
    lines + (omitted > 0 ? ["and \(omitted) more differences"] : [])
  }

  mutating func path(_ name: DifferenceName, below parent: DifferencePath) -> DifferencePath {
    names.append((name, parent.index))
    return DifferencePath(index: names.count - 1)
  }

  mutating func list(at path: DifferencePath, in row: Int?) -> Int {
    lists.append(List(path: path, row: row))
    return lists.count - 1
  }

  mutating func row(of list: Int) -> Int {
    rows.append(Row(list: list))
    return rows.count - 1
  }

  /// A Boolean value that indicates whether a row, or a row around it, is counted without a line.
  func isHidden(_ row: Int?) -> Bool { rowsAround(row).contains { rows[$0].isHidden } }

  mutating func add(_ text: @autoclosure () -> String, at path: DifferencePath, in row: Int?) {
    if hide(row) { return }
    if lines.count < Self.lineLimit {
      lines.append("\(words(path)): \(text())")
    } else {
      omitted += 1
    }
  }

  mutating func add(
    _ change: RowChange, _ text: @autoclosure () -> String, at path: DifferencePath, to list: Int
  ) {
    if lists[list].shown[change, default: 0] < Self.changeLimit {
      lists[list].shown[change, default: 0] += 1
      add("\(change) \(text())", at: path, in: lists[list].row)
    } else {
      lists[list].hidden[change, default: 0] += 1
    }
  }

  /// Counts the rows of a list that have no line.
  mutating func summarize(_ list: Int) {
    let hidden = lists[list].hidden
    let counts = RowChange.allCases.compactMap { change in
      hidden[change].map { "\($0) more \(change)" }
    }
    if counts.isEmpty { return }
    add(counts.joined(separator: ", "), at: lists[list].path, in: lists[list].row)
  }

  /// Returns `true` if a row, or a row around it, has no line left.
  private mutating func hide(_ row: Int?) -> Bool {
    let around = rowsAround(row)
    var isHidden = false
    for row in around where rows[row].lineCount == 0 {
      let list = rows[row].list
      if lists[list].shown[.changed, default: 0] < Self.changeLimit { continue }
      if !rows[row].isHidden { lists[list].hidden[.changed, default: 0] += 1 }
      rows[row].isHidden = true
      isHidden = true
    }
    if isHidden { return true }
    if around.contains(where: { rows[$0].lineCount >= Self.rowLineLimit }) {
      omitted += 1
      return true
    }
    for row in around {
      if rows[row].lineCount == 0 { lists[rows[row].list].shown[.changed, default: 0] += 1 }
      rows[row].lineCount += 1
    }
    return false
  }

  /// The row, and the rows that contain its list.
  private func rowsAround(_ row: Int?) -> [Int] {
    guard let row else { return [] }
    return Array(sequence(first: row) { lists[rows[$0].list].row })
  }

  private func words(_ path: DifferencePath) -> String {
    var parts: [String] = []
    var index = path.index
    while index >= 0 {
      switch names[index].name {
      case .member(let name): parts.append(name.hasPrefix(".") ? name : ".\(name)")
      case .index(let index): parts.append("[\(index)]")
      case .id(let id): parts.append("[id: \(ValueText(id, limit: 40).text)]")
      case .key(let key): parts.append("[\(ValueText(key, limit: 40).text)]")
      }
      index = names[index].parent
    }
    if parts.isEmpty { return root }
    if parts.count > 12 { parts = parts.prefix(8) + ["…"] + parts.suffix(4) }
    let words = parts.reversed().joined()
    return words.hasPrefix(".") ? String(words.dropFirst()) : words
  }
}

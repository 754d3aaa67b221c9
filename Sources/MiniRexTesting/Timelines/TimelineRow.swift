/// A line of a picture: a name, and a cell for each step.
struct TimelineRow {
  let name: String
  let cells: [String]
  let difference: Int?
  let unnamed: [String]

  init(
    _ name: String, _ steps: [[Character]], _ difference: Int? = nil, _ unnamed: [String] = []
  ) {
    self.name = name
    cells = steps.map { step in
      switch step.count {
      case 0: "-"
      case 1: String(step)
      default: "(\(String(step)))"
      }
    }
    self.difference = difference
    self.unnamed = unnamed
  }

  /// Returns the aligned rows, each step as wide as its widest cell.
  static func picture(_ rows: [TimelineRow]) -> String {
    let columns = rows.map(\.cells.count).max() ?? 0
    let widths = (0..<columns).map { index in
      rows.map { index < $0.cells.count ? $0.cells[index].count : 0 }.max() ?? 0
    }
    return rows.map { $0.picture(widths) }.joined(separator: "\n")
  }

  private func picture(_ widths: [Int]) -> String {
    var picture = line(name, zip(cells, widths).map { pad($0, to: $1) })
    if let difference {
      picture += "\n" + line("", widths.prefix(difference).map { pad("", to: $0) } + ["^"])
    }
    for text in unnamed { picture += "\n? is \(text)" }
    return picture
  }

  private func line(_ name: String, _ cells: [String]) -> String {
    pad(name, to: 13) + cells.joined()
  }

  private func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

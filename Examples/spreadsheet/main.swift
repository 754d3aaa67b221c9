import Foundation
import MiniRex
import Synchronization

let usage = """
  A1 12       enters a number, a text, or a formula: A1 =A2*(B2-1)+SUM(B1:B9)+IF(A3,1,B3)
  A1          shows what the cell contains
  go C200     shows the part of the sheet that starts at this cell
  quit
  """

/// Shows a part of the sheet as text, which depends on the corner and on the visible cells only.
func screen(of sheet: Sheet, at corner: PublishedProperty<Int>) -> PublishedValue<String> {
  .computed { [values = sheet.values] read in
    let (top, left) = read(corner).quotientAndRemainder(dividingBy: Grid.columns.count)
    let columns = (left..<left + 7).clamped(to: Grid.columns)
    var lines = [[""] + columns.map(Grid.name)]
    for row in (top..<top + 15).clamped(to: Grid.rows) {
      let cells = columns.map { read(values[row * Grid.columns.count + $0]).description }
      lines.append(["\(row + 1)"] + cells)
    }
    return lines.map { line in
      line.map { String(repeating: " ", count: max(0, 11 - $0.count)) + $0.prefix(11) }.joined()
    }.joined(separator: "\n")
  }
}

/// Fills all 100,000 cells: a row and a column of sums, and the sum of the sums.
func fill(_ sheet: Sheet) {
  for cell in Grid.cells {
    let (row, column) = cell.quotientAndRemainder(dividingBy: Grid.columns.count)
    let name = Grid.name(ofColumn: column)
    switch (row, column) {
    case (0, _): sheet.enter("=SUM(\(name)2:\(name)1000)", at: cell)
    case (_, 0): sheet.enter("=SUM(B\(row + 1):CV\(row + 1))", at: cell)
    default: sheet.enter("\((row * 31 + column * 17) % 100)", at: cell)
    }
  }
}

/// Executes the lines of standard input, and prints the screen after each change.
func run() {
  let sheet = Sheet()
  fill(sheet)
  let corner = PublishedProperty(0)
  let clear = isatty(STDOUT_FILENO) == 1 ? "\u{1B}[H\u{1B}[J" : ""
  let frames = screen(of: sheet, at: corner).subscribe { print("\(clear)\($0)") }
  print(usage)
  // A pipe needs no prompt.
  let prompt = isatty(STDIN_FILENO) == 1 ? "> " : ""
  func nextLine() -> String? {
    print(prompt, terminator: "")
    fflush(nil)
    return readLine()
  }
  while let line = nextLine(), line != "quit" {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let count = Content.calculationCount.load(ordering: .relaxed)
    if words.count == 2, words[0] == "go", let cell = Grid.cell(words[1]) {
      corner.value = cell
    } else if words.count == 2, let cell = Grid.cell(words[0]) {
      var problem: String?
      let time = ContinuousClock().measure { problem = sheet.enter(words[1], at: cell) }
      let formulas = Content.calculationCount.load(ordering: .relaxed) - count
      print("\(formulas) formulas, \(String(format: "%.1f", time / .milliseconds(1))) ms")
      if let problem { print(problem) }
    } else if words.count == 1, let cell = Grid.cell(line) {
      print(sheet.texts[cell])
    } else if let name = words.first == "go" ? words.last : words.first {
      print("There is no cell '\(name)'. Cells are A1 to CV1000.\n\(usage)")
    } else {
      print(usage)
    }
  }
  frames.invalidate()
}

// A chain of formulas is calculated on the stack, and may be long.
let thread = Thread {
  run()
  exit(0)
}
thread.stackSize = 1 << 30
thread.start()
while true { sleep(1_000) }

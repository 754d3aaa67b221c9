import MiniRex
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

@testable import spreadsheet

@Suite(.light, .serialized) struct SheetTests {
  private let sheet = Sheet()

  @Test func `a cell shows the result of its formula`() {
    let contents = ["A1": "2", "B1": "3", "A2": "text", "B2": "5", "A3": "5", "C2": "=1+*"]
    for (name, content) in contents { enter(content, name) }

    // The texts share a sheet, which takes most of a second to create.
    for (text, shown) in [
      ("=1+2*3", "7"), ("=(1+2)*3", "9"), ("=8/2/2", "2"), ("=-A1+10", "8"), ("=a1 * b1", "6"),
      ("=SUM(A1:B2)", "10"), ("=SUM(A1:C1)-C1", "5"), ("=IF(A1-2, 1, A3)", "5"), ("=C1+1", "1"),
      ("=A1/0", "#DIV/0!"), ("=C2+1", "#SYNTAX!"), ("=1+", "#SYNTAX!"),
      ("=SUM(B1:A1)", "#SYNTAX!"), ("=AAA1", "#SYNTAX!"), ("=A1001", "#SYNTAX!"),
      ("=" + String(repeating: "(", count: 1_000), "#SYNTAX!"),
      ("0.1", "0.1"), ("text", "text"), ("", ""),
    ] {
      enter(text, "D7")
      #expect(value("D7") == shown, "\(text)")
    }
  }

  @Test func `an edit calculates the formulas that depend on the cell, and shows one frame`() {
    enter("=SUM(A1:A9)", "B1")
    enter("=B1*2", "B2")
    enter("=C1", "B3")
    let corner = PublishedProperty(0)
    let frames = Recorder(screen(of: sheet, at: corner))
    let before = Content.calculationCount.load(ordering: .relaxed)

    enter("4", "A5")

    #expect(Content.calculationCount.load(ordering: .relaxed) - before == 2)
    #expect(frames.updates.count == 2)
    #expect(frames.updates.last?.contains("          8") == true)
    enter("1", "Z900")
    #expect(frames.updates.count == 2)
    corner.value = Grid.cell("Z900") ?? 0
    #expect(frames.updates.last?.hasPrefix(String(repeating: " ", count: 21) + "Z") == true)
  }

  @Test func `a branch that is not chosen is no dependency`() {
    enter("=IF(A1, A2, A3)", "B1")
    let frames = Recorder(sheet.values[Grid.cell("B1") ?? 0])
    let before = Content.calculationCount.load(ordering: .relaxed)

    enter("1", "A2")

    #expect(Content.calculationCount.load(ordering: .relaxed) == before)
    enter("1", "A1")
    #expect(frames.updates.map(\.description) == ["0", "1"])
  }

  @Test func `a cycle is an error in its cells and their readers, until it is opened`() {
    enter("=A1+1", "B1")
    enter("=B1+1", "C1")
    enter("=C1+1", "D1")
    let frames = Recorder(sheet.values[Grid.cell("D1") ?? 0])

    enter("=C1", "A1")

    #expect(["A1", "B1", "C1", "D1"].map(value) == [String](repeating: "#CYCLE!", count: 4))
    enter("5", "A1")
    #expect(["A1", "B1", "C1", "D1"].map(value) == ["5", "6", "7", "8"])
    #expect(frames.updates.map(\.description) == ["3", "#CYCLE!", "8"])
    enter("=SUM(E1:E3)", "E2")
    #expect(value("E2") == "#CYCLE!")
  }

  @Test func `random edits show the values of a calculation from the beginning`() throws {
    var random = SeededGenerator(seed: 26)
    let fresh = Sheet()
    let names = ["A1", "B1", "C1", "A2", "B2", "C2"]
    let frames = names.map { Recorder(sheet.values[Grid.cell($0) ?? 0]) }
    for step in 0..<scaled(100) {
      let name = names.randomElement(using: &random) ?? ""
      let (first, second) = (
        names.randomElement(using: &random) ?? "", names.randomElement(using: &random) ?? ""
      )
      let texts = [
        "\(step)", "=\(first)+1", "=\(first)+\(second)", "=IF(\(first),\(second),2)", "=SUM(A1:B2)",
      ]
      enter(texts.randomElement(using: &random) ?? "", name)

      for cell in names.compactMap(Grid.cell) { fresh.enter("", at: cell) }
      for name in names {
        let cell = try #require(Grid.cell(name))
        fresh.enter(sheet.texts[cell], at: cell)
      }

      for (frame, name) in zip(frames, names) {
        let cell = try #require(Grid.cell(name))
        let shown = try #require(fresh.values[cell].current())
        #expect(frame.updates.last == shown, "\(name) after step \(step)")
      }
    }
  }

  private func enter(_ text: String, _ name: String) {
    if let cell = Grid.cell(name) { sheet.enter(text, at: cell) }
  }

  private func value(_ name: String) -> String {
    Grid.cell(name).flatMap { sheet.values[$0].current()?.description } ?? "outside"
  }
}

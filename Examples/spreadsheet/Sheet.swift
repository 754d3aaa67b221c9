import MiniRex

/// A property with the content of each cell, and a computed value for its display.
///
/// One thread enters contents.
final class Sheet {
  let values: [PublishedValue<Value>]
  private(set) var texts = [String](repeating: "", count: Grid.cells.count)
  private let contents: [PublishedProperty<Content>]
  private var formulas: [Int: Content] = [:]
  /// How often formulas name a cell.
  private var readerCounts: [Int: Int] = [:]
  /// The cells whose formulas lead to a cycle, and therefore to an error.
  private var cyclic: Set<Int> = []

  init() {
    contents = Grid.cells.map { _ in PublishedProperty(.constant(.text(""))) }
    values = contents.map { content in .computed { read in read(content).calculate(&read) } }
  }

  /// Enters a number, a text, or a formula after `=`.
  ///
  /// - Returns: The reason why the cell shows an error, or `nil`.
  @discardableResult
  func enter(_ text: String, at cell: Int) -> String? {
    texts[cell] = text
    for reference in formulas[cell]?.references ?? [] { readerCounts[reference]? -= 1 }
    var content = Content.entered(text, values)
    for reference in content.references { readerCounts[reference, default: 0] += 1 }
    formulas[cell] = content.references.isEmpty ? nil : content
    let wereCyclic = cyclic
    // A cell that no formula names closes no cycle.
    let mayClose = readerCounts[cell, default: 0] > 0
    cyclic = cellsLeadingToCycles(from: wereCyclic.union(mayClose ? [cell] : []))
    let others = wereCyclic.symmetricDifference(cyclic).subtracting([cell])
    if cyclic.contains(cell) { content = .constant(.failure(.cycle)) }
    let problem =
      cyclic.contains(cell)
      ? "The formula depends on itself."
      : content.misunderstood.map { rest in
        (rest.isEmpty ? "The formula is not complete." : "The formula has a mistake at '\(rest)'.")
          + " It can have numbers, cells, + - * / ( ), SUM(B1:B9), and IF(C1,2,D1)."
      }
    if others.isEmpty {
      contents[cell].value = content
      return problem
    }
    // No run sees only a part of the changes, which could contain a cycle.
    together { set in
      set(contents[cell], to: content)
      for other in others {
        let formula = cyclic.contains(other) ? nil : formulas[other]
        set(contents[other], to: formula ?? .constant(.failure(.cycle)))
      }
    }
    return problem
  }

  /// Returns the cells from which following the references never ends.
  private func cellsLeadingToCycles(from starts: Set<Int>) -> Set<Int> {
    var openCounts: [Int: Int] = [:]
    var readers: [Int: [Int]] = [:]
    var (ended, next) = ([Int](), Array(starts))
    while let cell = next.popLast() {
      if openCounts[cell] != nil { continue }
      let references = formulas[cell]?.references ?? []
      openCounts[cell] = references.count
      if references.isEmpty { ended.append(cell) }
      for reference in references { readers[reference, default: []].append(cell) }
      next += references
    }
    while let cell = ended.popLast() {
      for reader in readers[cell] ?? [] {
        openCounts[reader, default: 0] -= 1
        if openCounts[reader] == 0 { ended.append(reader) }
      }
    }
    return Set(openCounts.filter { $0.value > 0 }.keys)
  }
}

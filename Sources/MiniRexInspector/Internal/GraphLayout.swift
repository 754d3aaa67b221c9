internal import Foundation
internal import MiniRex
internal import MiniRexFoundationAdapters

/// Where the nodes and edges of a drawing are, in points, as Graphviz has placed them.
///
/// Graphviz gets sizes and numbers, and gives back numbers: no name ever reaches it.
struct GraphLayout: Sendable {
  struct Point: Sendable { let x, y: Double }

  let size: Point
  /// By the number of the node.
  let centers: [Int: Point]
  /// In the order of the drawing's edges.
  let curves: [Int: [Point]]
  let labels: [Int: Point]

  static let labelSize = Point(x: 84, y: 14)

  /// The drawing in the language of Graphviz.
  static func input(_ drawing: GraphDrawing) -> String {
    let nodes = drawing.nodes.map { node in
      let size = node.drawnSize
      return "n\(node.number) [width=\(size.x / 72), height=\(size.y / 72)]"
    }
    let edges = drawing.edges.map { edge in
      // A cell of a size of its own instead of a text, whose size depends on fonts.
      """
      n\(edge.from) -> n\(edge.to) [label=<<table border="0" fixedsize="true" \
      width="\(Int(labelSize.x))" height="\(Int(labelSize.y))"><tr><td></td></tr></table>>]
      """
    }
    let head = [
      "digraph {", "rankdir=LR; nodesep=0.25; ranksep=0.25",
      "node [shape=box, fixedsize=true, label=\"\"]",
    ]
    return (head + nodes + edges + ["}"]).joined(separator: "\n")
  }

  /// Reads what `dot -Tplain` writes; `nil` if it is none of this drawing.
  init?(plain lines: [String], _ drawing: GraphDrawing) {
    var (size, scale) = (nil as Point?, 1.0)
    var centers: [Int: Point] = [:]
    var curves: [Int: [Point]] = [:]
    var labels: [Int: Point] = [:]
    // Edges come in the order of their tails; those between two nodes are one.
    var indices: [[Int]: Int] = [:]
    for (index, edge) in drawing.edges.enumerated() { indices[[edge.from, edge.to]] = index }
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      let numbers = words.map { Double($0) ?? .nan }
      func point(at index: Int) -> Point? {
        guard let size, index + 1 < numbers.count, numbers[index].isFinite,
          numbers[index + 1].isFinite
        else { return nil }
        return Point(x: numbers[index] * 72 * scale, y: size.y - numbers[index + 1] * 72 * scale)
      }
      func number(_ name: String) -> Int? { name.first == "n" ? Int(name.dropFirst()) : nil }
      switch words.first {
      case "graph" where words.count >= 4:
        guard numbers[1...3].allSatisfy(\.isFinite) else { return nil }
        scale = numbers[1]
        size = Point(x: numbers[2] * 72 * scale, y: numbers[3] * 72 * scale)
      case "node" where words.count >= 4:
        guard let number = number(words[1]), let center = point(at: 2) else { return nil }
        centers[number] = center
      case "edge" where words.count >= 4:
        guard let from = number(words[1]), let to = number(words[2]), let count = Int(words[3]),
          (1...1_000).contains(count), let index = indices[[from, to]]
        else { return nil }
        let points = (0..<count).compactMap { point(at: 4 + 2 * $0) }
        if points.count != count { return nil }
        curves[index] = points
        labels[index] = point(at: words.count - 4)
      default: break
      }
    }
    guard let size, drawing.nodes.allSatisfy({ centers[$0.number] != nil }) else { return nil }
    self.size = size
    self.centers = centers
    self.curves = curves
    self.labels = labels
  }
}

extension GraphDrawing.Node {
  /// Names are cut off where they would be wider than a screen.
  var shownName: String { shortened(name, to: 36) }
  var shownPlace: String? { place.map { $0.count > 40 ? "…" + $0.suffix(40) : $0 } }

  /// With room for the note, which comes and goes.
  var drawnSize: GraphLayout.Point {
    let letters = max(7.6 * Double(shownName.count), 6.2 * Double(shownPlace?.count ?? 0))
    let isSource = role == .source || role == .trace
    let lines = (place == nil ? 0 : 1) + (isSource ? 1 : 0)
    // A crowd of subscriptions has its size after the name.
    let width = letters + (role == .subscription ? 50 : 30)
    return GraphLayout.Point(x: max(70, width), y: 30 + 15 * Double(lines))
  }
}

extension GraphLayout {
  /// Runs Graphviz; `nil` if it fails, or takes too long.
  static func lay(
    out drawing: GraphDrawing, _ graphviz: URL,
    _ receive: @escaping @Sendable (GraphLayout?) -> Void
  ) -> Subscription {
    guard let input = try? openInput(input(drawing)) else {
      receive(nil)
      return .ended
    }
    let lines = Lock<[String]>([])
    return withInstrument(Unwatched()) {
      Process.task(graphviz, ["-Tplain"]) { $0.standardInput = input }
        .timeout(after: .seconds(10))
        .subscribe { update in
          switch update {
          case .progress(.output(let line)): lines.withLock { $0.append(line) }
          case .progress(.error): break
          case .finished(.success(.code(0))):
            receive(GraphLayout(plain: lines.withLock { $0 }, drawing))
          case .finished: receive(nil)
          }
        }
    }
  }

  /// A file that has no name any more, and goes with its last reader: a pipe could be full.
  private static func openInput(_ text: String) throws -> FileHandle {
    let file = FileManager.default.temporaryDirectory.appending(path: "minirex-\(randomWord())")
    try Data(text.utf8).write(to: file, options: .withoutOverwriting)
    defer { try? FileManager.default.removeItem(at: file) }
    return try FileHandle(forReadingFrom: file)
  }
}

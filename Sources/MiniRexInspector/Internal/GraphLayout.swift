internal import Foundation
internal import MiniRex
internal import MiniRexFoundationAdapters
internal import MiniRexPageServer

/// The positions of nodes and edges that Graphviz computed, in points.
///
/// Graphviz receives only sizes and numbers, never a name of the program.
struct GraphLayout: Sendable {
  struct Point: Sendable { let x, y: Double }

  let size: Point
  /// The centers by node number.
  let centers: [Int: Point]
  /// The Bézier points by the edge's index in the drawing.
  let curves: [Int: [Point]]
  let labels: [Int: Point]

  static let labelSize = Point(x: 84, y: 14)

  /// Returns the drawing in the DOT language.
  static func input(_ drawing: GraphDrawing) -> String {
    let nodes = drawing.nodes.map { node in
      let size = node.drawnSize
      return "n\(node.number) [width=\(size.x / 72), height=\(size.y / 72)]"
    }
    let edges = drawing.edges.map { edge in
      // A table cell has a fixed size. The size of a text would depend on fonts.
      """
      n\(edge.from) -> n\(edge.to) [label=<<table border="0" fixedsize="true" \
      width="\(Int(labelSize.x))" height="\(Int(labelSize.y))"><tr><td></td></tr></table>>]
      """
    }
    let head = [
      "digraph {", "rankdir=LR", "nodesep=0.25", "ranksep=0.25",
      "node [shape=box, fixedsize=true, label=\"\"]",
    ]
    return (head + nodes + edges + ["}"]).joined(separator: "\n")
  }

  /// Parses the output of `dot -Tplain`, or returns `nil` if it does not match the drawing.
  init?(plain lines: [String], _ drawing: GraphDrawing) {
    var (size, scale) = (nil as Point?, 1.0)
    var centers: [Int: Point] = [:]
    var curves: [Int: [Point]] = [:]
    var labels: [Int: Point] = [:]
    // Graphviz writes edges in the order of their tails. The drawing has one edge for each pair of
    // nodes.
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
  /// The name, truncated to the width of a screen.
  var shownName: String { shortened(name, to: 36) }
  var shownPlace: String? { place.map { $0.count > 40 ? "…" + $0.suffix(40) : $0 } }

  /// The size of the node, with room for a note that is shown at times.
  var drawnSize: GraphLayout.Point {
    let letters = max(7.6 * Double(shownName.count), 6.2 * Double(shownPlace?.count ?? 0))
    let isSource = role == .source || role == .trace
    let lines = (place == nil ? 0 : 1) + (isSource ? 1 : 0)
    // A group of subscriptions shows its size after the name.
    let width = letters + (role == .subscription ? 50 : 30)
    return GraphLayout.Point(x: max(70, width), y: 30 + 15 * Double(lines))
  }
}

extension GraphLayout {
  /// Runs Graphviz.
  ///
  /// Receives `nil` if Graphviz fails or exceeds ten seconds.
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

  /// Returns an unlinked file, which exists until it is closed.
  ///
  /// A full pipe would block the writer.
  private static func openInput(_ text: String) throws -> FileHandle {
    let file = FileManager.default.temporaryDirectory.appending(path: "minirex-\(makeSecret())")
    try Data(text.utf8).write(to: file, options: .withoutOverwriting)
    defer { try? FileManager.default.removeItem(at: file) }
    return try FileHandle(forReadingFrom: file)
  }
}

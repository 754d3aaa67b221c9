/// The name of a computed value, its place in the source code, and its record in a graph.
@usableFromInline
struct ComputedLabel: Sendable, CustomStringConvertible {
  private let name: String?
  private let place: CodePlace
  let lineage: Lineage?

  @usableFromInline
  init(_ name: String?, _ fileID: String, _ line: Int, _ lineage: Lineage? = nil) {
    self.name = name
    place = CodePlace(fileID: fileID, line: line)
    self.lineage = lineage
  }

  @usableFromInline var description: String {
    if let name { "'\(name)' (\(place))" } else { "the computed value at \(place)" }
  }
}

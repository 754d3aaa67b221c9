/// A row with a mutable id, to test the trap.
struct Todo: Identifiable, Codable, Equatable, Sendable {
  var id: Int
  var text: String

  init(_ id: Int, _ text: String) {
    self.id = id
    self.text = text
  }

  mutating func fail(after text: String) throws {
    self.text = text
    throw CancellationError()
  }
}

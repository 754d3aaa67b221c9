import MiniRex

/// A room with a window to the cold and a heating: what is real here, as far as a program can be.
struct Room: Sendable {
  var temperature: Double
  let outside = 1.0

  /// The room a minute later.
  func later(isHeating: Bool) -> Room {
    var room = self
    room.temperature += (outside - temperature) * 0.01 + (isHeating ? 0.45 : 0)
    return room
  }
}

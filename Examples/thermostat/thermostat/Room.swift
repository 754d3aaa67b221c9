import MiniRex

/// A simulated room with a window and a heating.
struct Room: Sendable {
  var temperature: Double
  let outside = 1.0

  /// Returns the room one minute later.
  func later(isHeating: Bool) -> Room {
    var room = self
    room.temperature += (outside - temperature) * 0.01 + (isHeating ? 0.45 : 0)
    return room
  }
}

#if NATS
internal import MiniRex

/// The subjects of a fleet.
///
/// A part of a subject names the member, so that the permissions of a server can bind a member to its subjects.
enum FleetSubject {
  /// The subject of the reports of one member, or of all with `*`.
  static func report(_ fleet: String, _ id: String) -> String { "_MINIREX.report.\(fleet).\(id)" }

  static func inspect(_ fleet: String, _ id: String) -> String { "_MINIREX.inspect.\(fleet).\(id)" }

  /// The subject of the frames of one answer.
  ///
  /// A member makes it from the fleet and a part, so that a request cannot make it publish elsewhere.
  static func frames(_ fleet: String, _ part: String) -> String {
    "_MINIREX.frames.\(fleet).\(part)"
  }

  /// The subject of the messages that a page sends to itself.
  static func probe(_ fleet: String, _ part: String) -> String { "_MINIREX.probe.\(fleet).\(part)" }

  static func requireFleet(_ name: String, of type: StaticString) {
    if !isPart(name) {
      misuse("'\(type)' requires a fleet of letters, digits, '-', and '_', not '\(name)'.")
    }
  }

  /// Returns whether the text is a part of a subject, and needs no escape in a URL and in JSON.
  static func isPart(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    return (1...64).contains(bytes.count)
      && bytes.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }
}
#endif

import Testing

/// The programs that the search goes through: two threads of up to four operations, or three of
/// two, with callbacks that send, subscribe and end.
///
/// Each group is searched by one test, and every rule is asked in every state of it.
struct ProgramGroup: Sendable, CustomTestStringConvertible {
  let name: String
  let programs: [Program]

  var testDescription: String { name }

  static let all = [
    broadcasting, reentrancy
  ]

  /// What a callback may do to its own source: its own number is 0, its neighbour's 1.
  private static let reactions: [Program.Subscriber] = [
    .plain, .reacting(.send, .send), .reacting(.subscribe(2), .send), .reacting(.end(0), .send),
    .reacting(.end(1), .send), .reacting(.send, .endSource),
  ]

  private static let valueReactions: [Program.Subscriber] = [
    .plain, .reacting(.set(3), .set(4)), .reacting(.subscribe(2), .set(3)),
    .reacting(.end(0), .set(3)), .reacting(.end(1), .set(3)), .reacting(.set(3), .endSource),
  ]

  static let broadcasting = ProgramGroup(
    name: "two threads use a broadcaster",
    programs: Program.all(
      .broadcaster, [.plain, .plain], threads: 2, of: 2,
      from: [.send, .subscribe(2), .end(0), .end(1), .end(2), .endSource, .releaseSource]))

  static let reentrancy = ProgramGroup(
    name: "callbacks use their broadcaster",
    programs: reactions.flatMap {
      Program.all(
        .broadcaster, [$0, .plain], late: .reacting(.send), threads: 2, of: 2,
        from: [.send, .end(0), .end(1), .endSource])
    })
}

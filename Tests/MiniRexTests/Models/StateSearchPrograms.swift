import Testing

/// The programs of the search: two threads with up to four operations each, or three threads with
/// two, and callbacks that send, subscribe, and end.
///
/// Each test searches one group, and checks every rule in every state.
struct ProgramGroup: Sendable, CustomTestStringConvertible {
  let name: String
  /// One of this many programs is searched with a `MINIREX_SCALE` of 1.
  var every = 1
  let programs: [Program]

  var testDescription: String { name }

  static let all = [
    broadcasting, reentrancy, threeSenders, orders, values, valueReentrancy, threeSetters,
    valueOrders, modifying, waiting, releases, handingOver, valuesHandedOver,
  ]

  static let broadcasting = ProgramGroup(
    name: "two threads use a broadcaster", every: 3,
    programs: Program.all(
      .broadcaster, [.plain, .plain], threads: 2, of: 2,
      from: [.send, .subscribe(2), .end(0), .end(1), .end(2), .endSource, .releaseSource]))

  /// The reacting callback is number 0, and its neighbor is number 1.
  static let reentrancy = ProgramGroup(
    name: "callbacks use their broadcaster", every: 3,
    programs: [
      .reacting(.send, .send), .reacting(.subscribe(2), .send), .reacting(.end(0), .send),
      .reacting(.end(1), .send), .reacting(.send, .endSource),
    ].flatMap {
      Program.all(
        .broadcaster, [$0, .plain], late: .reacting(.send), threads: 2, of: 2,
        from: [.send, .end(0), .end(1), .endSource])
    })

  static let threeSenders = ProgramGroup(
    name: "three threads use a broadcaster", every: 23,
    programs: Program.all(
      .broadcaster, [.reacting(.send), .plain], threads: 3, of: 2,
      from: [.send, .subscribe(2), .end(0)]))

  static let orders = ProgramGroup(
    name: "two threads use a broadcaster in every order", every: 23,
    programs: Program.orders(
      .broadcaster, [.plain, .reacting(.send)],
      [.send, .send, .subscribe(2), .end(0)], [.send, .end(1), .subscribe(2), .endSource]))

  static let values = ProgramGroup(
    name: "two threads use a value", every: 2,
    programs: Program.all(
      .value, [.plain], threads: 2, of: 2,
      from: [.set(1), .set(2), .subscribe(1), .end(0), .end(1), .endSource]))

  static let valueReentrancy = ProgramGroup(
    name: "callbacks use their value", every: 11,
    programs: [
      .reacting(.set(3), .set(4)), .reacting(.subscribe(2), .set(3)), .reacting(.end(0), .set(3)),
      .reacting(.end(1), .set(1)), .reacting(.set(3), .endSource),
    ].flatMap {
      Program.all(
        .value, [$0, .plain], late: .reacting(.set(5)), threads: 2, of: 2,
        from: [.set(1), .set(2), .subscribe(2), .endSource])
    })

  static let threeSetters = ProgramGroup(
    name: "three threads use a value", every: 37,
    programs: Program.all(
      .value, [.reacting(.set(3))], threads: 3, of: 2, from: [.set(1), .subscribe(1), .end(0)]))

  static let valueOrders = ProgramGroup(
    name: "two threads use a value in every order", every: 83,
    programs: Program.orders(
      .value, [.plain], late: .reacting(.set(4)),
      [.set(1), .set(2), .subscribe(1), .end(0)], [.set(1), .end(1), .subscribe(1), .endSource]))

  static let modifying = ProgramGroup(
    name: "two threads modify a value", every: 2,
    programs: Program.all(
      .value, [.reacting(.modify(3))], threads: 2, of: 2,
      from: [.modify(1), .set(1), .subscribe(1), .end(0), .endSource]))

  static let waiting = ProgramGroup(
    name: "two threads cancel and wait", every: 3,
    programs: [.plain, .reacting(.endAndWait(0), .send), .reacting(.endAndWait(1))].flatMap {
      Program.all(
        .broadcaster, [$0, .plain], threads: 2, of: 2,
        from: [.send, .end(0), .endAndWait(0), .endAndWait(1), .endSource])
    })

  static let releases = ProgramGroup(
    name: "releases use their source", every: 3,
    programs: [.releasing(.send), .releasing(.end(1), .subscribe(2)), .releasing(.endSource)]
      .flatMap {
        Program.all(
          .broadcaster, [$0, .plain], late: .releasing(.end(1)), threads: 2, of: 2,
          from: [.send, .end(0), .end(1), .endSource])
      }
      + Program.all(
        .value, [.releasing(.set(3), .subscribe(2)), .plain], threads: 2, of: 2,
        from: [.set(1), .set(2), .end(0), .end(1), .endSource]))

  static let handingOver = ProgramGroup(
    name: "a task takes over a broadcaster", every: 11,
    programs: Program.all(
      .broadcaster, [.reacting(.send), .plain], patience: 1, threads: 2, of: 3,
      from: [.send, .subscribe(2), .end(0)])
      + Program.all(
        .broadcaster, [.plain, .reacting(.send)], patience: 0, threads: 2, of: 2,
        from: [.send, .end(0), .endAndWait(1), .endSource]))

  static let valuesHandedOver = ProgramGroup(
    name: "a task takes over a value", every: 37,
    programs: Program.all(
      .value, [.reacting(.set(3))], patience: 1, threads: 2, of: 3,
      from: [.set(1), .set(2), .subscribe(1)])
      + Program.all(
        .value, [.plain], patience: 0, threads: 3, of: 1,
        from: [.set(1), .set(2), .modify(1), .subscribe(1), .end(0), .endSource]))
}

import MiniRex

/// A small program for sources, combinations of them, and threads that send.
struct GlitchFreedomProgram: Hashable, Sendable, CustomStringConvertible {
  enum Input: Hashable, Sendable {
    case source(Int)
    case combination([Input])

    /// The sources that the input derives from.
    var origins: Set<Int> {
      switch self {
      case .source(let source): [source]
      case .combination(let inputs): inputs.reduce(into: []) { $0.formUnion($1.origins) }
      }
    }
  }

  enum Operation: Hashable, Sendable {
    case send(Int)
    /// Subscribes to the combination.
    ///
    /// Without such an operation, the program starts subscribed.
    case subscribe
    /// Installs the barriers again, as after a switched input, whose update comes first.
    case reinstallBarriers
  }

  var sources = 1
  /// A Boolean value that indicates whether threads send without the lock, as broadcasters allow.
  ///
  /// No thread subscribes in such a program.
  var isOpen = false
  /// The inputs of the observed combination.
  var inputs: [Input]
  /// The sources that the first callbacks send to, one per callback.
  var reactions: [Int] = []
  var threads: [[Operation]]

  /// `false` if updates must agree at rest only, because the queue of an inner combination may be
  /// delivered outside the turn.
  var isStrict: Bool { inputs.allSatisfy { $0.origins.count == 1 } }

  var description: String {
    "\(isOpen ? "open: " : "")\(inputs), first calls send \(reactions): \(threads)"
  }

  static let diamond: [Input] = [.source(0), .source(0)]

  static let all: [GlitchFreedomProgram] = {
    let closed = locked
    let open = closed.filter { !$0.threads.joined().contains(.subscribe) }.map {
      var program = $0
      program.isOpen = true
      return program
    }
    return closed + open
  }()

  private static let locked: [GlitchFreedomProgram] = {
    let (one, two) = (Input.source(0), Input.source(1))
    let inner = Input.combination(diamond)
    let twice: [[Operation]] = [[.send(0), .send(0)], [.send(0)]]
    let across: [[Operation]] = [[.send(0), .send(1)], [.send(1), .send(0)]]
    let each: [[Operation]] = [[.send(0), .send(0)], [.send(1)]]
    return [
      GlitchFreedomProgram(inputs: diamond, threads: twice),
      GlitchFreedomProgram(inputs: diamond, reactions: [0, 0], threads: twice),
      GlitchFreedomProgram(inputs: [inner, one], threads: twice),
      GlitchFreedomProgram(inputs: [one, inner], reactions: [0], threads: twice),
      GlitchFreedomProgram(inputs: [inner, inner], threads: twice),
      GlitchFreedomProgram(inputs: [one, .combination([inner, one])], threads: twice),
      GlitchFreedomProgram(sources: 2, inputs: [one, one, two], threads: across),
      GlitchFreedomProgram(sources: 2, inputs: [one, one, two, two], threads: each),
      GlitchFreedomProgram(sources: 2, inputs: [one, two, one, two], threads: across),
      GlitchFreedomProgram(sources: 2, inputs: [one, two, one], reactions: [1, 0], threads: each),
      GlitchFreedomProgram(sources: 2, inputs: [inner, two, one], threads: each),
      GlitchFreedomProgram(
        sources: 2, inputs: [.combination([one, two]), one], threads: across),
      GlitchFreedomProgram(
        sources: 2, inputs: [.combination([one, two]), .combination([two, one])],
        threads: each),
      GlitchFreedomProgram(
        inputs: diamond, threads: [[.send(0), .send(0)], [.subscribe, .send(0)]]),
      GlitchFreedomProgram(inputs: [inner, one], threads: [[.send(0), .send(0)], [.subscribe]]),
      GlitchFreedomProgram(
        sources: 2, inputs: [one, two, one],
        threads: [[.send(0), .send(1)], [.subscribe, .send(0)]]),
      GlitchFreedomProgram(
        inputs: diamond, threads: [[.send(0), .send(0)], [.reinstallBarriers, .send(0)]]),
      GlitchFreedomProgram(
        inputs: diamond,
        threads: [[.send(0), .reinstallBarriers], [.send(0), .reinstallBarriers]]),
      GlitchFreedomProgram(
        sources: 2, inputs: [one, two, one, two],
        threads: [[.send(0), .send(1)], [.reinstallBarriers, .send(0)]]),
    ]
  }()
}

import MiniRex

/// A small program for sources, combinations of them, and threads that send.
struct TogetherProgram: Hashable, Sendable, CustomStringConvertible {
  enum Input: Hashable, Sendable {
    case source(Int)
    case combination([Input])

    /// The sources that it follows from.
    var origins: Set<Int> {
      switch self {
      case .source(let source): [source]
      case .combination(let inputs): inputs.reduce(into: []) { $0.formUnion($1.origins) }
      }
    }
  }

  enum Operation: Hashable, Sendable {
    case send(Int)
    /// Subscribes to the combination; the program begins with that if no thread does it.
    case subscribe
    /// What a switched input makes the combination do, which is told first.
    case standAgain
  }

  var sources = 1
  /// True if one need not lock to send to the sources, as to broadcasters; then nobody subscribes
  /// while they send.
  var isOpen = false
  /// The inputs of the combination that is told.
  var inputs: [Input]
  /// What the first calls send, one for each.
  var reactions: [Int] = []
  var threads: [[Operation]]

  /// False if it has to agree at rest only: the queue of a combination inside it may be emptied
  /// outside the turn.
  var isStrict: Bool { inputs.allSatisfy { $0.origins.count == 1 } }

  var description: String {
    "\(isOpen ? "open: " : "")\(inputs), first calls send \(reactions): \(threads)"
  }

  static let diamond: [Input] = [.source(0), .source(0)]

  static let all: [TogetherProgram] = {
    let closed = locked
    let open = closed.filter { !$0.threads.joined().contains(.subscribe) }.map {
      var program = $0
      program.isOpen = true
      return program
    }
    return closed + open
  }()

  private static let locked: [TogetherProgram] = {
    let (one, two) = (Input.source(0), Input.source(1))
    let inner = Input.combination(diamond)
    let twice: [[Operation]] = [[.send(0), .send(0)], [.send(0)]]
    let across: [[Operation]] = [[.send(0), .send(1)], [.send(1), .send(0)]]
    let each: [[Operation]] = [[.send(0), .send(0)], [.send(1)]]
    return [
      TogetherProgram(inputs: diamond, threads: twice),
      TogetherProgram(inputs: diamond, reactions: [0, 0], threads: twice),
      TogetherProgram(inputs: [inner, one], threads: twice),
      TogetherProgram(inputs: [one, inner], reactions: [0], threads: twice),
      TogetherProgram(inputs: [inner, inner], threads: twice),
      TogetherProgram(inputs: [one, .combination([inner, one])], threads: twice),
      TogetherProgram(sources: 2, inputs: [one, one, two], threads: across),
      TogetherProgram(sources: 2, inputs: [one, one, two, two], threads: each),
      TogetherProgram(sources: 2, inputs: [one, two, one, two], threads: across),
      TogetherProgram(sources: 2, inputs: [one, two, one], reactions: [1, 0], threads: each),
      TogetherProgram(sources: 2, inputs: [inner, two, one], threads: each),
      TogetherProgram(
        sources: 2, inputs: [.combination([one, two]), one], threads: across),
      TogetherProgram(
        sources: 2, inputs: [.combination([one, two]), .combination([two, one])],
        threads: each),
      TogetherProgram(inputs: diamond, threads: [[.send(0), .send(0)], [.subscribe, .send(0)]]),
      TogetherProgram(inputs: [inner, one], threads: [[.send(0), .send(0)], [.subscribe]]),
      TogetherProgram(
        sources: 2, inputs: [one, two, one],
        threads: [[.send(0), .send(1)], [.subscribe, .send(0)]]),
      TogetherProgram(inputs: diamond, threads: [[.send(0), .send(0)], [.standAgain, .send(0)]]),
      TogetherProgram(
        inputs: diamond, threads: [[.send(0), .standAgain], [.send(0), .standAgain]]),
      TogetherProgram(
        sources: 2, inputs: [one, two, one, two],
        threads: [[.send(0), .send(1)], [.standAgain, .send(0)]]),
    ]
  }()
}

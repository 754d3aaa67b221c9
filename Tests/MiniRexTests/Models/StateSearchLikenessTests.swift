import MiniRex
import TestSupport
import Testing

/// Compares the model with the implementation: the search proves only as much as they have in
/// common.
@Suite(.light) struct StateSearchLikenessTests {
  @Test(arguments: [Program.Kind.broadcaster, .value])
  func `on one thread, a real source delivers the updates of its model`(
    _ kind: Program.Kind
  ) {
    for seed in 0..<UInt64(scaled(1_000)) {
      var random = SeededGenerator(seed: seed)
      let program = Program.random(kind, &random)

      var machine = Machine(program)
      machine.log = []
      while machine.state.broken == nil, machine.step(0) {}
      let real = RealMachine(program)
      real.run()

      #expect(machine.state.broken == nil, "seed \(seed): \(program)")
      #expect(machine.log == real.log, "seed \(seed): \(program)")
    }
  }
}

extension Program {
  fileprivate static func random(_ kind: Kind, _ random: inout SeededGenerator) -> Program {
    let isBroadcaster = kind == .broadcaster
    var late = 2
    // During a first call, `subscribe` retains the callback even if the source ends. The model
    // cannot express that, so a first call does not end the source.
    func operations(_ count: Int, endingSource: Bool) -> [Operation] {
      (0..<count).map { _ in
        let subscriber = Int.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<3 where late < 6:
          late += 1
          return .subscribe(late - 1)
        case 3..<5: return .end(subscriber)
        case 5: return .endAndWait(subscriber)
        case 6 where endingSource: return .endSource
        case 7 where !isBroadcaster: return .modify(Int.random(in: 1..<4, using: &random))
        default:
          return isBroadcaster ? .send : .set(Int.random(in: 1..<4, using: &random))
        }
      }
    }
    func subscribers(_ count: Int) -> [Subscriber] {
      (0..<count).map { _ in
        Subscriber(
          reaction: operations(
            Int.random(in: 0..<4, using: &random), endingSource: isBroadcaster),
          release: operations(
            Int.random(in: 0..<2, using: &random), endingSource: isBroadcaster))
      }
    }
    let initial = subscribers(2)
    let others = subscribers(4)
    return Program(kind, initial, late: others, threads: [operations(6, endingSource: true)])
  }
}

/// Runs a program of one thread with a real source.
///
/// Unchecked: only that thread uses it.
private final class RealMachine: @unchecked Sendable {
  private let program: Program
  private let source = BroadcastSource<Int>()
  private let property = PublishedProperty(0)
  private var subscriptions: [Int: Subscription] = [:]
  private var hasReacted: Set<Int> = []
  private var sent = 0
  private var isRunning = false
  private var hasEnded = false
  private(set) var log: [Machine.Event] = []

  init(_ program: Program) {
    self.program = program
    for subscriber in 0..<program.initial { subscribe(subscriber) }
    isRunning = true
  }

  func run() {
    perform(program.threads[0])
    // The subscriptions end here. Their releases are not part of the program.
    isRunning = false
    subscriptions = [:]
  }

  private func subscribe(_ subscriber: Int) {
    // A finished source never retains the callback.
    let isRefused = hasEnded
    let sentinel = Sentinel { [self] in
      if !isRunning || isRefused { return }
      log.append(.released(subscriber))
      perform(program.subscribers[subscriber].release)
    }
    let receive: @Sendable (Int) -> Void = { [self] update in
      withExtendedLifetime(sentinel) { call(subscriber, with: update) }
    }
    subscriptions[subscriber] =
      program.kind == .value
      ? property.publisher.subscribe(receive) : source.publisher.subscribe(receive)
  }

  private func call(_ subscriber: Int, with update: Int) {
    if !isRunning { return }
    log.append(.called(subscriber, with: update))
    if hasReacted.insert(subscriber).inserted {
      perform(program.subscribers[subscriber].reaction)
    }
  }

  private func perform(_ operations: [Operation]) {
    for operation in operations {
      switch operation {
      case .send:
        sent += 1
        source.broadcast(sent)
      case .set(let value): property.value = value
      case .modify(let value): property.modify { $0 = value }
      case .subscribe(let subscriber): subscribe(subscriber)
      case .end(let subscriber): subscriptions[subscriber]?.invalidate()
      case .endAndWait(let subscriber): subscriptions[subscriber]?.invalidateAndWait()
      case .endSource, .releaseSource:
        hasEnded = true
        source.end()
        property.end()
      }
    }
  }
}

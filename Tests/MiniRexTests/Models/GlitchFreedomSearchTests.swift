import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light, .serialized) struct GlitchFreedomSearchTests {
  @Test func `R16 and R30 hold in every state of sources and combinations`() {
    var states = 0
    // A single-threaded search is slow under a sanitizer, and a few programs are enough there.
    // `Scripts/soak` takes all.
    let step = scale < 1 ? 6 : scale > 1 ? 1 : 2
    for index in stride(from: 0, to: GlitchFreedomProgram.all.count, by: step) {
      let search = StateSearch<GlitchFreedomMachine>(GlitchFreedomProgram.all[index])
      states += search.states
      if let breach = search.breach {
        Issue.record("\(breach)")
        return
      }
    }
    print(
      "state search, combinations: \(GlitchFreedomProgram.all.count) programs, \(states) states")
  }

  @Test func `on one thread, real combinations deliver the updates of their model`() {
    for seed in 0..<UInt64(scaled(500)) {
      var random = SeededGenerator(seed: seed)
      let program = GlitchFreedomProgram.random(&random)

      var machine = GlitchFreedomMachine(program)
      machine.log = []
      while machine.state.broken == nil, machine.step(0) {}
      let real = RealCombination(program)
      real.run()

      #expect(machine.state.broken == nil, "seed \(seed): \(program)")
      #expect(machine.log == real.log.value, "seed \(seed): \(program)")
    }
  }
}

extension GlitchFreedomProgram {
  fileprivate static func random(_ random: inout SeededGenerator) -> GlitchFreedomProgram {
    func source() -> Int { Int.random(in: 0..<2, using: &random) }
    func inputs(depth: Int) -> [Input] {
      (0..<Int.random(in: 1...3, using: &random)).map { _ in
        depth > 0 && Bool.random(using: &random)
          ? .combination(inputs(depth: depth - 1)) : .source(source())
      }
    }
    return GlitchFreedomProgram(
      sources: 2, inputs: inputs(depth: 2), reactions: (0..<3).map { _ in source() },
      threads: [(0..<6).map { _ in .send(source()) }])
  }
}

/// Runs a program of one thread with real sources.
private struct RealCombination {
  let program: GlitchFreedomProgram
  let sources: [PublishedProperty<Int>]
  let log = Shared<[[Int]]>([])

  init(_ program: GlitchFreedomProgram) {
    self.program = program
    sources = (0..<program.sources).map { _ in PublishedProperty(0) }
  }

  func run() {
    let reactions = Shared(program.reactions)
    let isSubscribed = Shared(false)
    let subscription = combination(of: program.inputs).subscribe { [log, sources] all in
      if !isSubscribed.value { return }
      log.append(all)
      let source = reactions.change { $0.isEmpty ? nil : $0.removeFirst() }
      if let source { sources[source].modify { $0 += 1 } }
    }
    isSubscribed.value = true
    for case .send(let source) in program.threads[0] { sources[source].modify { $0 += 1 } }
    withExtendedLifetime(subscription) {}
  }

  private func combination(of inputs: [GlitchFreedomProgram.Input]) -> PublishedValue<[Int]> {
    let all = inputs.map { input in
      switch input {
      case .source(let source): sources[source].publisher.map { [$0] }
      case .combination(let inner): combination(of: inner)
      }
    }
    return switch all.count {
    case 1: combineLatest(all[0]) { $0 }
    case 2: combineLatest(all[0], all[1]) { $0 + $1 }
    default: combineLatest(all[0], all[1], all[2]) { $0 + $1 + $2 }
    }
  }
}

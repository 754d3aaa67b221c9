import MiniRex
import MiniRexStore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct StoreSearchTests {
  @Test(arguments: StoreProgram.all.indices)
  func `S9 no interleaving loses, doubles, reorders, or blocks an action`(program: Int)
    async
  {
    // A search takes minutes under a sanitizer and finds the same.
    if scale < 1, program < StoreProgram.all.count - 1 { return }
    let breach = Shared<String?>(nil)
    await onQueue {
      var search = StoreSearch(StoreProgram.all[program])
      breach.value = search.run()
      print("store search, program \(program): \(search.states) states")
    }
    #expect(breach.value == nil)
  }
}

/// Visits every state that a program can reach, in every interleaving.
struct StoreSearch {
  private(set) var states = 0
  private let start: StoreMachine

  init(_ program: StoreProgram) {
    start = StoreMachine(program)
  }

  /// - Returns: The first breach of a rule, and the threads whose steps lead to it.
  mutating func run() -> String? {
    var visited: Set = [start.state]
    var path = [(machine: start, nextThread: 0, isStuck: true)]
    defer { states = visited.count }
    while let (machine, thread, isStuck) = path.last {
      if thread == machine.state.threads.count {
        var last = path.removeLast().machine
        if isStuck { last.checkRest() }
        if let broken = last.state.broken { return "\(broken), by \(path.map(\.nextThread))" }
        continue
      }
      path[path.count - 1].nextThread += 1
      var next = machine
      guard next.step(thread) else { continue }
      path[path.count - 1].isStuck = false
      if let broken = next.state.broken { return "\(broken), by \(path.map(\.nextThread))" }
      if visited.insert(next.state).inserted { path.append((next, 0, true)) }
    }
    return nil
  }
}

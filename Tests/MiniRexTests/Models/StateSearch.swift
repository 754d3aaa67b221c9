/// A model with threads that take steps.
protocol Searched {
  associatedtype Program
  associatedtype State: Hashable

  init(_ program: Program)

  var state: State { get }
  /// The first violation of a rule.
  var broken: String? { get }
  var threadCount: Int { get }

  /// A description of the next step of the thread.
  func next(of thread: Int) -> String
  /// - Returns: `false` if the thread has finished or must wait.
  mutating func step(_ thread: Int) -> Bool
  /// Checks a state in which no thread can take a step.
  mutating func checkRest()
}

/// Visits every state that a program can reach, in every order of its threads' steps.
struct StateSearch<Machine: Searched> {
  private(set) var states = 0
  /// The first violation of a rule, and the steps that lead to it.
  private(set) var breach: String?

  private let program: Machine.Program

  init(_ program: Machine.Program) {
    self.program = program
    breach = search().map { trace(of: $0.broken, $0.path) }
  }

  private mutating func search() -> (broken: String, path: [Int])? {
    let start = Machine(program)
    var visited: Set = [start.state]
    var path = [(machine: start, nextThread: 0, isStuck: true)]
    while let (machine, thread, isStuck) = path.last {
      if thread == machine.threadCount {
        var last = path.removeLast().machine
        if !isStuck { continue }
        last.checkRest()
        if let broken = last.broken { return (broken, path.map(\.nextThread)) }
        continue
      }
      path[path.count - 1].nextThread += 1
      var next = machine
      guard next.step(thread) else { continue }
      path[path.count - 1].isStuck = false
      if let broken = next.broken { return (broken, path.map(\.nextThread)) }
      if visited.insert(next.state).inserted { path.append((next, 0, true)) }
    }
    states = visited.count
    return nil
  }

  private func trace(of broken: String, _ path: [Int]) -> String {
    var machine = Machine(program)
    var lines = ["\(broken), in \(program)"]
    for nextThread in path {
      let thread = nextThread - 1
      let frame = machine.next(of: thread)
      _ = machine.step(thread)
      lines.append("  thread \(thread): \(frame)")
    }
    return lines.joined(separator: "\n").replacing("MiniRexTests.", with: "")
  }
}

extension Machine: Searched {
  var broken: String? { state.broken }
  var threadCount: Int { state.threads.count }

  func next(of thread: Int) -> String { state.threads[thread].last.map { "\($0)" } ?? "nothing" }

  mutating func checkRest() {
    let isDone = state.threads.allSatisfy { $0.isEmpty }
    expect(isDone, "R10 all threads are deadlocked")
    if isDone { checkEnd() }
  }
}

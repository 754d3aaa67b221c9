package import MiniRex

/// The threads of a model.
package protocol SearchedState: Hashable {
  associatedtype Frame

  /// The pending steps of each thread.
  ///
  /// The last frame of a thread is its next step.
  var threads: [[Frame]] { get set }
  /// The first violation of a rule.
  var broken: String? { get set }
}

/// A model with threads that take steps.
package protocol Searched {
  associatedtype Program
  associatedtype State: SearchedState

  init(_ program: Program)

  /// Every value that the next step can depend on.
  var state: State { get set }

  /// - Returns: `false` if the thread has finished or must wait.
  mutating func step(_ thread: Int) -> Bool
  /// Checks a state in which no thread can take a step.
  mutating func checkRest()
}

extension Searched {
  package func id(_ thread: Int) -> ThreadID { DeliveryModel.id(of: thread) }

  package mutating func push(_ frames: State.Frame..., on thread: Int) {
    state.threads[thread] += frames
  }

  package mutating func expect(_ isTrue: Bool, _ breach: @autoclosure () -> String) {
    if !isTrue, state.broken == nil { state.broken = breach() }
  }
}

/// Visits every state that a program can reach, in every order of its threads' steps.
package struct StateSearch<Machine: Searched> {
  package private(set) var states = 0
  /// The first violation of a rule, and the steps that lead to it.
  package private(set) var breach: String?

  private let program: Machine.Program

  package init(_ program: Machine.Program) {
    self.program = program
    breach = search().map { trace(of: $0.broken, $0.path) }
  }

  private mutating func search() -> (broken: String, path: [Int])? {
    let start = Machine(program)
    // A million states share a hash with a probability of 3e-8. The search would omit one of them.
    var visited: Set = [start.state.hashValue]
    var path = [(machine: start, nextThread: 0, isStuck: true)]
    while let (machine, thread, isStuck) = path.last {
      if thread == machine.state.threads.count {
        var last = path.removeLast().machine
        if !isStuck { continue }
        last.checkRest()
        if let broken = last.state.broken { return (broken, path.map(\.nextThread)) }
        continue
      }
      path[path.count - 1].nextThread += 1
      var next = machine
      guard next.step(thread) else { continue }
      path[path.count - 1].isStuck = false
      if let broken = next.state.broken { return (broken, path.map(\.nextThread)) }
      if visited.insert(next.state.hashValue).inserted { path.append((next, 0, true)) }
    }
    states = visited.count
    return nil
  }

  private func trace(of broken: String, _ path: [Int]) -> String {
    var machine = Machine(program)
    var lines = ["\(broken), in \(program)"]
    for nextThread in path {
      let thread = nextThread - 1
      let frame = machine.state.threads[thread].last.map { "\($0)" } ?? "nothing"
      _ = machine.step(thread)
      lines.append("  thread \(thread): \(frame)")
    }
    return lines.joined(separator: "\n").replacing(#/\w+Tests\./#, with: "")
  }
}

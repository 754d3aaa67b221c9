/// Runs a program with all choices, or until a run has a fault.
///
/// - Parameter run: Runs the program, and returns its fault.
/// - Returns: The number of runs, and the fault with its choices.
package func searchChoices(_ run: (inout Choices) -> String?) -> (count: Int, fault: String?) {
  var count = 0
  var script: [Int] = []
  repeat {
    var choices = Choices(script)
    count += 1
    if let fault = run(&choices) { return (count, "\(fault) after the choices \(choices)") }
    script = choices.nextScript
  } while !script.isEmpty
  return (count, nil)
}

/// The choices of one run of a search that repeats a program with all choices.
package struct Choices: CustomStringConvertible {
  private let script: [Int]
  private var made: [(taken: Int, count: Int)] = []

  /// - Parameter script: The first choices. The others are 0.
  fileprivate init(_ script: [Int]) { self.script = script }

  package mutating func choose(of count: Int) -> Int {
    let taken = made.count < script.count ? min(script[made.count], count - 1) : 0
    made.append((taken, count))
    return taken
  }

  /// The script of the next run, or an empty one after the last.
  fileprivate var nextScript: [Int] {
    var next = made
    while let last = next.popLast() {
      if last.taken + 1 < last.count { return next.map(\.taken) + [last.taken + 1] }
    }
    return []
  }

  package var description: String { "\(made.map(\.taken))" }
}

/// What the command line asks for.
struct Options {
  var filter: [String] = []
  var reps = 25
  var isBrief = false
  var json = false
  var list = false
  var count = false
  var replays = false
  var plots: String?
  var once: String?
  var contestant = "minirex"
  var units = 1000
  var marks = false

  static let usage = """
    Measures MiniRex beside what you could use instead; times are the minimum and the median.

    minirex-bench [--filter NAME,NAME…] [--reps N] [--brief] [--json] [--plots DIRECTORY]
      NAME is a workload, or the beginning of some and a '*'. --brief is quick and inexact.
    minirex-bench --list
      The workloads, and who takes part.
    minirex-bench --count [--filter …]
      Allocations, retains, releases and locked instructions per unit; fails where one is over its
      goal.
    minirex-bench --replays
      How long a journal takes to make its state again, by its length, with and without snapshots.
    minirex-bench --once WORKLOAD [--contestant NAME] --units N [--marks]
      Does N operations of it and nothing else; 'Benchmarks/instructions' counts with it, and
      '--count' with the marks.
    """

  init(_ arguments: [String]) throws(BadArgument) {
    var rest = arguments[...]
    func value(of option: String) throws(BadArgument) -> String {
      guard let value = rest.popFirst() else { throw BadArgument("\(option) needs a value.") }
      return value
    }
    func number(of option: String) throws(BadArgument) -> Int {
      let text = try value(of: option)
      guard let number = Int(text), number > 0 else {
        throw BadArgument("\(option) needs a number above 0, not '\(text)'.")
      }
      return number
    }
    while let option = rest.popFirst() {
      switch option {
      case "--filter": filter += try value(of: option).split(separator: ",").map(String.init)
      case "--reps": reps = try number(of: option)
      case "--brief": isBrief = true
      case "--json": json = true
      case "--list": list = true
      case "--count": count = true
      case "--replays": replays = true
      case "--plots": plots = try value(of: option)
      case "--once": once = try value(of: option)
      case "--contestant": contestant = try value(of: option)
      case "--marks": marks = true
      case "--units": units = try number(of: option)
      default: throw BadArgument("'\(option)' means nothing here.\n\n\(Options.usage)")
      }
    }
    if isBrief { reps = min(reps, 3) }
    for name in filter where !workloads.contains(where: { selects($0.name, name) }) {
      throw BadArgument("No workload is called '\(name)'; see --list.")
    }
  }

  func selects(_ workload: String) -> Bool {
    filter.isEmpty || filter.contains { selects(workload, $0) }
  }

  private func selects(_ workload: String, _ name: String) -> Bool {
    name.hasSuffix("*") ? workload.hasPrefix(name.dropLast()) : workload == name
  }

  /// How long a repetition should take.
  ///
  /// Threads and tasks take a while to start.
  func nanoseconds(for workload: String) -> Double {
    let isLong = threadsMeet(in: workload) || workload == "task"
    return (isLong ? 25e6 : 6e6) / (isBrief ? 20 : 1)
  }
}

struct BadArgument: Error {
  let message: String

  init(_ message: String) {
    self.message = message
  }
}

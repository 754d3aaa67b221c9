/// The options of the command line.
struct Options {
  var filter: [String] = []
  var reps = 25
  var isBrief = false
  var json = false
  var list = false
  var count = false
  var company = false
  var replays = false
  var journals = false
  var part: String?
  var commits: String?
  var writers = 1
  var plots: String?
  var once: String?
  var contestant = "minirex"
  var units = 1000
  var marks = false

  static let usage = """
    Compares MiniRex with its alternatives. Times are the minimum and the median.

    minirex-bench [--filter NAME,NAME…] [--reps N] [--brief] [--json] [--plots DIRECTORY]
      NAME is a workload, or a prefix and a '*'. --brief is quick and inexact.
    minirex-bench --list
      Lists the workloads and their contestants.
    minirex-bench --count [--filter …]
      Counts allocations, retains, releases, and locked instructions per unit. Fails if a count
      exceeds its goal.
    minirex-bench --company [--filter …]
      Compares a thread alone with the same thread beside eight others that do the same with objects of
      their own, by its processor time. Fails if a ratio exceeds its goal.
    minirex-bench --replays
      Times the replay of a journal by its length, with and without snapshots.
    minirex-bench --journals [--part durable|size|segments|stall] [--brief]
      Counts durable commits by the number of writers, and shows the size of a journal, the time to open
      it, and the time of a send during a compaction. Writes its files to the working directory, which
      must be on a disk.
    minirex-bench --commits minirex|minirex-every-commit|minirex-durable --units N [--writers N]
      Records only N commits, for 'Benchmarks/compare-journals'.
    minirex-bench --once WORKLOAD [--contestant NAME] --units N [--marks]
      Performs only N operations of a workload, for 'Benchmarks/instructions', and with --marks
      for '--count'.
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
      case "--company": company = true
      case "--replays": replays = true
      case "--journals": journals = true
      case "--part": part = try value(of: option)
      case "--commits": commits = try value(of: option)
      case "--writers": writers = try number(of: option)
      case "--plots": plots = try value(of: option)
      case "--once": once = try value(of: option)
      case "--contestant": contestant = try value(of: option)
      case "--marks": marks = true
      case "--units": units = try number(of: option)
      default: throw BadArgument("'\(option)' is not an option.\n\n\(Options.usage)")
      }
    }
    if isBrief { reps = min(reps, 3) }
    let names = workloads.map(\.name) + companyWorkloads.map(\.name)
    for name in filter where !names.contains(where: { selects($0, name) }) {
      throw BadArgument("No workload is named '\(name)'. Use --list.")
    }
  }

  func selects(_ workload: String) -> Bool {
    filter.isEmpty || filter.contains { selects(workload, $0) }
  }

  private func selects(_ workload: String, _ name: String) -> Bool {
    name.hasSuffix("*") ? workload.hasPrefix(name.dropLast()) : workload == name
  }

  /// Returns the target duration of a repetition.
  ///
  /// Workloads with threads or tasks need longer, because threads take time to start.
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

import CBench
import Foundation
import Synchronization

/// A workload whose users share no object.
struct CompanyWorkload {
  let name: String
  /// The maximum of the processor time beside eight users, as a multiple of the time beside eight
  /// loops.
  let limit: Double
  let make: () -> Run

  init(_ name: String, _ limit: Double, _ make: @escaping () -> Run) {
    self.name = "company-\(name)"
    self.limit = limit
    self.make = make
  }
}

/// The processor time of an operation in nanoseconds, the median of many samples.
///
/// A thread that waits for a processor has no processor time, so a loaded machine changes it little. Other
/// threads still take turns in the caches and share the units of a core. Eight threads that only
/// allocate and count references do the same, and are the reference. A minimum would select the
/// samples during which no other user ran.
private struct CompanyTimes {
  let alone: Double
  let besideLoops: Double
  let besideUsers: Double

  var ratio: Double { besideUsers / max(besideLoops, alone) }

  /// Measures the three cases in alternation.
  init(_ workload: CompanyWorkload, rounds: Int) {
    let timed = Timed(workload.make())
    var samples: [[Double]] = [[], [], []]
    for _ in 0..<rounds {
      samples[0] += timed.samples()
      beside(8, allocating) { samples[1] += timed.samples() }
      beside(8, workload.make) { samples[2] += timed.samples() }
    }
    let medians = samples.map { Measurement($0).median }
    (alone, besideLoops, besideUsers) = (medians[0], medians[1], medians[2])
  }
}

/// A run with the number of operations that takes about a millisecond.
private struct Timed {
  private let run: Run
  private var operations = 64

  init(_ run: @escaping Run) {
    self.run = run
    run(operations)
    while time() < 5e5, operations < 1 << 22 { operations *= 2 }
  }

  func samples() -> [Double] {
    (0..<9).map { _ in time() / Double(operations) }
  }

  private func time() -> Double {
    let start = cb_thread_time()
    run(operations)
    return Double(cb_thread_time() - start)
  }
}

private func allocating() -> Run {
  { k in for i in 0..<k { _ = opaque(Holder([i])) } }
}

/// Runs `body` while other threads repeat separate runs.
private func beside(_ count: Int, _ make: @escaping () -> Run, _ body: () -> Void) {
  let company = Company()
  let threads = (0..<count).map { _ in
    JoinedThread {
      let run = make()
      run(64)
      company.arrived.add(1, ordering: .releasing)
      while !company.isOver.load(ordering: .relaxed) { run(64) }
    }
  }
  while company.arrived.load(ordering: .acquiring) < count { usleep(200) }
  body()
  company.isOver.store(true, ordering: .relaxed)
  for thread in threads { thread.join() }
}

private final class Company: Sendable {
  let arrived = Atomic(0)
  let isOver = Atomic(false)
}

/// Prints the times of all workloads, and returns `false` if a goal is missed.
func showCompany(_ options: Options) -> Bool {
  print(
    "ns of processor time".padded(to: 22)
      + "       alone    8 loops    8 users  of alone  of loops      goal"
  )
  var misses: [String] = []
  for workload in companyWorkloads where options.selects(workload.name) {
    let rounds = options.isBrief ? 3 : 6
    var times = CompanyTimes(workload, rounds: rounds)
    // A disturbance passes, a regression stays.
    for _ in 0..<4 where times.ratio > workload.limit {
      let others = CompanyTimes(workload, rounds: 2 * rounds)
      if others.ratio < times.ratio { times = others }
    }
    let columns = [
      times.alone, times.besideLoops, times.besideUsers, times.besideUsers / times.alone,
      times.ratio,
      workload.limit,
    ]
    print(workload.name.padded(to: 22) + columns.map { number($0).aligned(to: 11) }.joined())
    if times.ratio > workload.limit {
      misses.append("\(workload.name): \(number(times.ratio)), goal \(number(workload.limit)).")
    }
  }
  fflush(nil)
  for miss in misses { complain(miss) }
  return misses.isEmpty
}

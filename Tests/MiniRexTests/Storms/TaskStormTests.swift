import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy, .serialized) struct TaskStormTests {
  let seed =
    ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  /// A sequential model of a shared task.
  private struct Model {
    var starts = 0
    var stops = 0
    var result: Int?
    /// The subscribers of the current run.
    var members: Set<Int> = []
    var received: [Int: [String]] = [:]
    var latest: Int?

    mutating func subscribe(_ id: Int) {
      received[id] = []
      if let result { return received[id, default: []].append("=\(result)") }
      if members.isEmpty {
        starts += 1
        latest = nil
      }
      members.insert(id)
      if let latest { received[id, default: []].append("\(latest)") }
    }

    mutating func leave(_ id: Int) {
      guard members.remove(id) != nil, members.isEmpty, result == nil else { return }
      stops += 1
    }

    mutating func report(_ number: Int) {
      guard !members.isEmpty, result == nil else { return }
      latest = number
      for id in members { received[id, default: []].append("\(number)") }
    }

    mutating func finish(_ number: Int) {
      guard !members.isEmpty, result == nil else { return }
      result = number
      stops += 1
      for id in members { received[id, default: []].append("=\(number)") }
      members = []
    }
  }

  private typealias Finisher = (
    report: @Sendable (Int) -> Void, finish: @Sendable (Result<Int, Never>) -> Void
  )

  /// For ThreadSanitizer: the thread that fails must not read a success that another thread stores.
  @Test func `R18 all fails once while other threads finish its other tasks`() {
    for round in 0..<max(200, scaled(500)) {
      let sources = (0..<4).map { _ in TaskSource<String, CancellationError>() }
      let failures = Shared(0)
      let subscription = all(sources.map(\.publisher)).subscribe { result in
        if case .failure = result { failures.increment() }
      }

      onThreads(4) { index in
        sources[index].finish(
          index == 0
            ? .failure(CancellationError()) : .success("success \(index) of round \(round)"))
      }

      #expect(failures.value == 1)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R18 R19 a task behaves like its model in random scripts`() {
    for round in 0..<scaled(1_000) {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      var model = Model()
      let starts = Shared(0)
      let stops = Shared(0)
      let current = Shared<Finisher?>(nil)
      let task = ProgressiveTask<Int, Int, Never> { report, finish in
        starts.increment()
        current.value = (report, finish)
        return Subscription { stops.increment() }
      }
      var recorders: [Int: Recorder<TaskUpdate<Int, Int, Never>>] = [:]
      for step in 0..<30 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
          recorders[step] = Recorder(task)
          model.subscribe(step)
        case 4...6:
          guard let id = recorders.keys.sorted().randomElement(using: &random) else { continue }
          recorders[id]?.invalidate()
          model.leave(id)
        case 7...8:
          current.value?.report(step)
          model.report(step)
        default:
          current.value?.finish(.success(step))
          model.finish(step)
        }
      }

      #expect(starts.value == model.starts, "seed \(seed), round \(round)")
      #expect(stops.value == model.stops, "seed \(seed), round \(round)")
      for (id, recorder) in recorders {
        let received = recorder.updates.map { update in
          switch update {
          case .progress(let number): "\(number)"
          case .finished(.success(let number)): "=\(number)"
          }
        }
        #expect(received == model.received[id], "seed \(seed), round \(round), subscriber \(id)")
      }
    }
  }

  @Test func `R18 R19 concurrent subscribers of a task share one run and one result`() {
    for round in 0..<scaled(150) {
      let starts = Shared(0)
      let stops = Shared(0)
      let finishers = Shared<[Finisher]>([])
      let task = ProgressiveTask<Int, Int, Never> { report, finish in
        starts.increment()
        finishers.change { $0.append((report, finish)) }
        return Subscription { stops.increment() }
      }
      let bad = Shared<[String]>([])
      let results = Shared<Set<Int>>([])
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        var kept: [Subscription] = []
        for number in 0..<40 {
          if thread == 0 {
            guard let finisher = finishers.value.last else { continue }
            finisher.report(number)
            if number == 30 { finisher.finish(.success(round)) }
            continue
          }
          let last = Shared(-1)
          let hasResult = Shared(false)
          let subscription = task.subscribe { update in
            if hasResult.value { bad.change { $0.append("after the result") } }
            switch update {
            case .progress(let number):
              if number <= last.value { bad.change { $0.append("\(number) after \(last.value)") } }
              last.value = number
            case .finished(.success(let result)):
              hasResult.value = true
              results.change { _ = $0.insert(result) }
            }
          }
          if Bool.random(using: &random) { kept.append(subscription) }
          if kept.count > 3 { kept.removeFirst() }
        }
        withExtendedLifetime(kept) {}
      }
      finishers.value = []

      #expect(bad.value == [], "seed \(seed)")
      #expect(results.value.isSubset(of: [round]))
      #expect(stops.value == starts.value, "seed \(seed)")
    }
  }
}

import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy, .serialized) struct ResourceStormTests {
  let seed =
    ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  /// A sequential model of a resource with polling and one retry, without tasks and clocks.
  private struct Model {
    static let staleAfter = 10
    static let interval = 15
    static let retryDelay = 3

    var now = 0
    var value: Int?
    var valueTime = 0
    var failure: Int?
    var subscribers = 0
    var waiters = 0
    /// The number of the load in progress.
    var load: Int?
    var isSecondAttempt = false
    var isRequested = false
    /// The number of the request in progress, or `nil` between two attempts.
    var request: Int?
    var requests = 0
    var loads = 0
    var retryTime: Int?
    var pollTime: Int?
    var loadEnd: Int?
    var results: [Result<Int, Backend.Failed>] = []

    var isStale: Bool { value != nil && now - valueTime >= Model.staleAfter }

    var text: String {
      (value.map { "\($0)" } ?? "-") + (failure.map { " failed \($0)" } ?? "")
        + (isStale ? " stale" : "") + (load != nil ? " loading" : "")
    }

    mutating func start() {
      loads += 1
      load = loads
      isSecondAttempt = false
      isRequested = false
      retryTime = nil
      pollTime = nil
      makeRequest()
    }

    mutating func makeRequest() {
      requests += 1
      request = requests
    }

    mutating func stop() {
      load = nil
      request = nil
      retryTime = nil
      isRequested = false
    }

    mutating func cancelUnneeded() {
      if subscribers == 0, waiters == 0, !isRequested { stop() }
    }

    mutating func subscribe() {
      subscribers += 1
      if load != nil { return }
      if value == nil || isStale { return start() }
      if subscribers == 1 {
        pollTime = (loadEnd ?? now) + Model.interval
        while let time = pollTime, time < now { pollTime = time + Model.interval }
        poll()
      }
    }

    mutating func unsubscribe() {
      subscribers -= 1
      if subscribers == 0 { pollTime = nil }
      cancelUnneeded()
    }

    mutating func read(fresh: Bool) {
      if let value, !fresh || valueTime == now {
        results.append(.success(value))
        if isStale { refresh() }
        return
      }
      waiters += 1
      if load == nil { start() }
    }

    mutating func stopReading() {
      if waiters == 0 { return }
      waiters -= 1
      cancelUnneeded()
    }

    mutating func refresh() {
      if load == nil {
        start()
      } else if retryTime != nil {
        retry()
      }
      isRequested = true
    }

    mutating func retry() {
      retryTime = nil
      isSecondAttempt = true
      makeRequest()
    }

    mutating func invalidate() {
      (value, failure) = (nil, nil)
      if subscribers > 0 || waiters > 0 { start() } else { stop() }
    }

    mutating func end(_ result: Result<Int, Backend.Failed>) {
      for _ in 0..<waiters { results.append(result) }
      waiters = 0
      stop()
      loadEnd = now
      if subscribers > 0 { pollTime = now + Model.interval }
    }

    mutating func set(_ new: Int) {
      (value, failure, valueTime) = (new, nil, now)
      if load != nil { end(.success(new)) }
    }

    mutating func answer(_ new: Int) {
      if request == nil { return }
      (value, failure, valueTime) = (new, nil, now)
      end(.success(new))
    }

    mutating func fail() {
      guard let request else { return }
      failure = request
      if isSecondAttempt { return end(.failure(Backend.Failed(request))) }
      retryTime = now + Model.retryDelay
      self.request = nil
    }

    mutating func advance() {
      now += 1
      if let retryTime, retryTime <= now { retry() }
      poll()
    }

    mutating func poll() {
      guard let pollTime, pollTime <= now else { return }
      self.pollTime = nil
      if load == nil { start() }
    }
  }

  @Test func `C1 C3 C4 C5 C6 C9 a resource behaves like its model in random scripts`() async {
    for round in 0..<scaled(100) {
      var random = SeededGenerator(seed: seed &+ UInt64(round))
      var model = Model()
      let clock = ManualClock()
      let backend = Backend()
      let results = Shared<[Result<Int, Backend.Failed>]>([])
      let resource = Resource<Int, any Error>(
        staleAfter: .seconds(Model.staleAfter), refreshEvery: .seconds(Model.interval), retries: 1,
        retryDelay: .constant(.seconds(Model.retryDelay)), clock: clock
      ) { try await backend.load() }
      var subscriptions: [Subscription] = []
      var readers: [(reader: Subscription, isOver: Shared<Bool>)] = []
      var steps: [String] = []
      var latest = ""
      for step in 0..<100 {
        let choice = Int.random(in: 0..<20, using: &random)
        steps.append("\(choice)")
        switch choice {
        case 0...1:
          model.subscribe()
          subscriptions.append(resource.publisher.subscribe { _ in })
        case 2...3:
          guard !subscriptions.isEmpty else { continue }
          model.unsubscribe()
          let index = Int.random(in: 0..<subscriptions.count, using: &random)
          subscriptions.remove(at: index).invalidate()
        case 4...5:
          model.read(fresh: choice == 5)
          let isOver = Shared(false)
          let task = choice == 5 ? resource.task(maxAge: .zero) : resource.task
          let reader = task.subscribe { result in
            isOver.value = true
            results.append(result.mapError { $0 as? Backend.Failed ?? Backend.Failed(0) })
          }
          if !isOver.value { readers.append((reader, isOver)) }
        case 6:
          readers.removeAll { $0.isOver.value }
          guard let last = readers.popLast() else { continue }
          model.stopReading()
          last.reader.invalidate()
        case 7:
          model.refresh()
          resource.refresh()
        case 8:
          model.invalidate()
          resource.invalidate()
        case 9:
          model.set(step)
          resource.set(step)
        case 10...12:
          if let request = model.request { backend.answer(request, step) }
          model.answer(step)
        case 13:
          if let request = model.request { backend.fail(request) }
          model.fail()
        default:
          model.advance()
          await clock.advance(by: .seconds(1))
        }
        let limit = ContinuousClock.now + .seconds(20)
        while true {
          latest = ResourceTests.text(resource.state)
          if latest == model.text, backend.count == model.requests, results.value == model.results {
            break
          }
          if Task.isCancelled || limit < .now {
            Issue.record(
              """
              seed \(seed), round \(round), steps \(steps): \(latest), \(backend.count) requests, \
              \(results.value), \(clock.sleeperCount) sleepers, not \(model)
              """)
            return
          }
          await Task.yield()
        }
      }
    }
  }

  @Test func `C2 C5 C7 eight threads use a resource concurrently`() async throws {
    for round in 0..<scaled(4) {
      let clock = ManualClock()
      let running = Shared(0)
      let most = Shared(0)
      let loads = Shared(0)
      let resource = Resource<Int, any Error>(
        staleAfter: .seconds(5), refreshEvery: .seconds(7), retries: 1,
        retryDelay: .constant(.seconds(1)), clock: clock
      ) {
        let number = loads.increment()
        if !Task.isCancelled {
          let now = running.increment()
          most.change { $0 = max($0, now) }
        }
        await Task.yield()
        running.increment(by: -1)
        if number.isMultiple(of: 5) { throw Backend.Failed(number) }
        return number
      }
      let overlapping = Shared(0)
      let isBusy = Shared(false)
      let checked = resource.publisher.subscribe { _ in
        if isBusy.change({ busy in
          defer { busy = true }
          return busy
        }) {
          overlapping.increment()
        }
        isBusy.value = false
      }
      let waiting = Shared<[Task<Void, Never>]>([])
      onThreads(8) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        var kept: [Subscription] = []
        for step in 0..<200 {
          switch Int.random(in: 0..<10, using: &random) {
          case 0...1: kept.append(resource.publisher.subscribe { _ in })
          case 2...3: _ = kept.popLast()
          case 4: resource.refresh()
          case 5: resource.invalidate()
          case 6: resource.set(-step)
          case 7: clock.advance(by: .seconds(1))
          case 8: kept.append(resource.task.subscribe { _ in })
          default:
            let task = Task { _ = try? await resource.value(maxAge: .zero) }
            if step.isMultiple(of: 3) { task.cancel() }
            waiting.append(task)
          }
        }
        withExtendedLifetime(kept) {}
      }
      // The waiting callers need no further use of the resource, except for the clock.
      let pump = Task {
        while !Task.isCancelled {
          await clock.advance(by: .seconds(1))
          await Task.yield()
        }
      }
      for task in waiting.value { await task.finished() }
      pump.cancel()
      await pump.finished()
      let last = Recorder(resource.publisher)
      resource.set(1_000_000)

      #expect(overlapping.value == 0, "seed \(seed), round \(round)")
      await until { last.updates.last?.value == 1_000_000 }
      #expect(resource.waiterCount == 0)
      last.invalidate()
      checked.invalidate()
      #expect(resource.subscriberCount == 0)
      #expect(clock.sleeperCount == 0)
    }
  }

  @Test func `C8 eight threads use a family concurrently`() async {
    for round in 0..<scaled(4) {
      let clock = ManualClock()
      let loading = Shared<[Int: Int]>([:])
      let family = ResourceFamily<Int, Int, any Error>(
        staleAfter: .seconds(5), keepingUnused: .seconds(3), limit: 4, clock: clock
      ) { key in
        loading.change { $0[key, default: 0] += 1 }
        return key
      }
      let wrong = Shared(0)
      onThreads(8) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        var kept: [Subscription] = []
        var resources: [Resource<Int, any Error>] = []
        for _ in 0..<200 {
          let key = Int.random(in: 0..<12, using: &random)
          switch Int.random(in: 0..<8, using: &random) {
          case 0...1:
            kept.append(
              family[key].publisher.subscribe {
                if let value = $0.value, value != key { wrong.increment() }
              })
          case 2: _ = kept.popLast()
          case 3: resources.append(family[key])
          case 4: resources.removeAll()
          case 5: family.invalidate { $0 == key }
          case 6: clock.advance(by: .seconds(1))
          default: family[key].refresh()
          }
        }
        for resource in resources where !resources.contains(where: { $0 === resource }) {
          wrong.increment()
        }
      }
      #expect(wrong.value == 0, "seed \(seed), round \(round)")
      await until { family.count <= 4 }
      await clock.advance(by: .seconds(3))
      #expect(family.count == 0)
      #expect(clock.sleeperCount == 0)
    }
  }
}

import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ResourceFamilyTests {
  typealias Family = ResourceFamily<Int, String, any Error>

  let clock = ManualClock()
  let loads = Shared<[Int]>([])

  func makeFamily(
    keepingUnused: Duration = .seconds(300), limit: Int = 1_000, refreshEvery: Duration? = nil
  ) -> Family {
    ResourceFamily(
      staleAfter: .seconds(60), refreshEvery: refreshEvery, keepingUnused: keepingUnused,
      limit: limit, clock: clock
    ) { [loads] key in
      loads.append(key)
      return "\(key)"
    }
  }

  @Test func `C8 a family has one resource per key while it is used or kept`() async throws {
    let family = makeFamily()
    let first = family[1]
    #expect(first === family[1])
    #expect(loads.value == [])
    #expect(try await first.value() == "1")
    #expect(try await family[1].value() == "1")
    #expect(try await family[2].value() == "2")

    #expect(loads.value == [1, 2])
    #expect(family.count == 2)
  }

  @Test func `C8 an unused resource is kept for the duration`() async throws {
    let family = makeFamily(keepingUnused: .seconds(10))
    _ = try await family[1].value()
    #expect(family.count == 1)
    await clock.advance(by: .seconds(9))
    #expect(try await family[1].value() == "1")
    await clock.advance(by: .seconds(9))
    #expect(family.count == 1)
    await clock.advance(by: .seconds(1))

    #expect(family.count == 0)
    #expect(clock.sleeperCount == 0)
    #expect(try await family[1].value() == "1")
    #expect(loads.value == [1, 1])
  }

  @Test func `C8 a resource is released although the clock moves before the timer is set`() {
    let clock = MovingClock()
    let family = Family(keepingUnused: .seconds(10), clock: clock) { "\($0)" }
    clock.step.value = .seconds(10)
    family[1].set("1")
    #expect(family.count == 0)
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `C8 a retained or subscribed resource is used`() async throws {
    let family = makeFamily(keepingUnused: .zero)
    var retained: Resource<String, any Error>? = family[1]
    let recorder = Recorder(family[2].publisher)
    #expect(family.count == 2)
    await until { recorder.updates.last?.value == "2" }
    #expect(retained?.state.value == nil)
    await clock.advance(by: .seconds(1_000))
    #expect(family.count == 2)

    retained = nil
    #expect(family.count == 1)
    recorder.invalidate()
    #expect(family.count == 0)
  }

  @Test func `C8 the unused resource that was used least recently is released first`() async throws
  {
    let family = makeFamily(limit: 2)
    for key in 1...2 { _ = try await family[key].value() }
    _ = family[1]
    _ = try await family[3].value()
    #expect(family.count == 2)

    for key in [1, 3, 2] { _ = try await family[key].value() }
    #expect(loads.value == [1, 2, 3, 2])
    #expect(family.count == 2)
  }

  @Test func `C8 a load is a use, and a publisher outlasts its resource`() async throws {
    let gate = BroadcastSource<Void>()
    let family = ResourceFamily<Int, Int, any Error>(keepingUnused: .zero, clock: clock) { key in
      for await _ in gate.publisher.values(.unbounded) { break }
      return key
    }
    let publisher = family[7].publisher
    #expect(family.count == 0)
    let recorder = Recorder(publisher)
    #expect(family.count == 1)
    await until { gate.subscriberCount == 1 }
    gate.broadcast(())
    await until { recorder.updates.last?.value == 7 }
    recorder.invalidate()
    #expect(family.count == 0)
    #expect(publisher.current()?.value == nil)

    family[8].refresh()
    #expect(family.count == 1)
    await until { gate.subscriberCount == 1 }
    gate.broadcast(())
    await until { family.count == 0 }
  }

  @Test func `C8 a task of a family retains its resource`() async throws {
    let family = makeFamily(keepingUnused: .zero)
    let task = family[1].task
    #expect(family.count == 1)
    #expect(try await task.value == "1")
    #expect(family[1] === family[1])
  }

  @Test func `C8 invalidate selects resources by key`() async throws {
    let family = makeFamily()
    for key in 1...4 { _ = try await family[key].value() }
    family.invalidate { $0.isMultiple(of: 2) }
    for key in 1...4 { _ = try await family[key].value() }

    #expect(loads.value == [1, 2, 3, 4, 2, 4])
  }

  @Test func `C8 releasing the family finishes its publishers and cancels its loads`() async {
    let backend = Backend()
    var family: ResourceFamily<Int, Int, any Error>? = ResourceFamily(clock: clock) { _ in
      try await backend.load()
    }
    let publisher = family![1].publisher
    let resource = family![1]
    let recorder = Recorder(publisher)
    await backend.requests(1)
    family = nil

    await backend.cancellations(1)
    #expect(recorder.hasEnded)
    #expect(Recorder(publisher).hasEnded)
    #expect(clock.sleeperCount == 0)
    await #expect(throws: CancellationError.self) { try await resource.value() }
  }

  /// A key whose comparison and hash use the family.
  private struct NosyKey: Hashable, Sendable {
    let number: Int
    let nose: Shared<(@Sendable () -> Void)?>

    static func == (one: NosyKey, other: NosyKey) -> Bool {
      one.nose.value?()
      return one.number == other.number
    }

    func hash(into hasher: inout Hasher) {
      nose.value?()
      hasher.combine(0)
    }
  }

  @Test func `C8 R9 keys are compared and released outside the lock`() async throws {
    let nose = Shared<(@Sendable () -> Void)?>(nil)
    let family = ResourceFamily<NosyKey, Int, any Error>(limit: 3, clock: clock) { $0.number }
    nose.value = { _ = family.count }
    for number in 0..<20 {
      #expect(try await family[NosyKey(number: number, nose: nose)].value() == number)
    }
    family.invalidate { $0.number == 19 }
    #expect(family.count == 3)
    nose.value = nil
  }

  @Test func `C8 the memory of a family is bounded`() async throws {
    let family = makeFamily(limit: 10)
    for key in 0..<scaled(8_000) { family[key % 5_000].set("x") }

    #expect(family.count == 10)
    #expect(loads.value == [])
  }
}

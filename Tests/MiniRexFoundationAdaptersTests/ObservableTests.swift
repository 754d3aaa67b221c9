import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Observation
import TestSupport
import Testing

@MainActor @Observable private final class Model {
  var name = "a"
  var age = 1
  var friend: Model?
  let birthday = 1
}

/// Not isolated: each test or actor uses its own instance.
@Observable private final class Counter {
  var count = 0
}

private actor Office {
  let counter = Counter()
  let property = PublishedProperty(0)

  func counts() -> PublishedValue<Int> {
    publishedValue(of: counter, \.count)
  }

  func set(_ count: Int) { counter.count = count }
}

@Suite(.light) @MainActor struct ObservableTests {
  private let model = Model()

  @Test func `R28 subscribe emits the current value synchronously, then each change`() async {
    let recorder = Recorder(publishedValue(of: model, \.name))
    #expect(recorder.updates == ["a"])

    model.name = "b"
    #expect(await recorder.next(2) == ["a", "b"])
    model.name = "c"
    #expect(await recorder.next() == ["c"])
    #expect(recorder.updates == ["a", "b", "c"])
  }

  @Test func `several changes between two jobs emit the latest value`() async {
    let recorder = Recorder(publishedValue(of: model, \.age))

    for age in 2...100 { model.age = age }

    #expect(await recorder.next(2) == [1, 100])
    for age in [1, 2, 100] { model.age = age }
    model.age = 3
    #expect(await recorder.next() == [3])
  }

  @Test func `the closure may read several properties and nested objects`() async {
    let friend = Model()
    let recorder = Recorder(
      publishedValue(of: model) { "\($0.name)\($0.age)\($0.friend?.name ?? "-")" })

    model.age = 2
    #expect(await recorder.next(2) == ["a1-", "a2-"])
    model.friend = friend
    #expect(await recorder.next() == ["a2a"])
    friend.name = "f"
    #expect(await recorder.next() == ["a2f"])
    model.name = "b"
    model.friend = nil
    #expect(await recorder.next() == ["b2-"])
  }

  @Test func `R17 a change to an equal value is skipped`() async {
    let recorder = Recorder(publishedValue(of: model) { $0.age / 10 })

    model.age = 2
    await nextJob()
    model.age = 10

    #expect(await recorder.next(2) == [0, 1])
  }

  @Test func `a late subscriber receives the current value`() async {
    let name = publishedValue(of: model, \.name)
    let early = Recorder(name)
    model.name = "b"
    #expect(await early.next(2) == ["a", "b"])

    let late = Recorder(name)

    #expect(late.updates == ["b"])
    #expect(name.current() == "b")
  }

  @Test func `an object of another actor is read on that actor`() async {
    let office = Office()
    let recorder = Recorder(await office.counts())

    for count in 1...10 {
      await office.set(count)
      #expect(await recorder.next(count == 1 ? 2 : 1).last == count)
    }
  }

  @Test func `the publisher does not retain the object, and finishes with it`() async {
    var model: Model? = Model()
    weak let weakModel = model
    let name = model.map { publishedValue(of: $0, \.name) }
    let recorder = name.map { Recorder($0) }

    model = nil

    #expect(weakModel == nil)
    #expect(recorder?.hasEnded == true)
    #expect(name?.current() == "a")
  }

  @Test func `a change just before deallocation is emitted`() async {
    var model: Model? = Model()
    let recorder = model.map { Recorder(publishedValue(of: $0, \.name)) }

    model?.name = "b"
    model = nil

    #expect(await recorder?.next(3) == ["a", "b"])
    #expect(recorder?.hasEnded == true)
  }

  @Test func `a value that cannot change finishes after its first value`() {
    let recorder = Recorder(publishedValue(of: model, \.birthday))

    #expect(recorder.updates == [1])
    #expect(recorder.hasEnded)
  }

  @Test func `R29 reading stops when publisher and subscribers are released`() async {
    let reads = Shared(0)
    let isReleased = Shared(false)
    do {
      let witness = Witness { isReleased.value = true }
      let name = publishedValue(of: model) { model in
        witness.touch()
        reads.change { $0 += 1 }
        return model.name
      }
      let recorder = Recorder(name)
      model.name = "b"
      #expect(await recorder.next(2) == ["a", "b"])
    }
    let count = reads.value

    #expect(isReleased.value)
    model.name = "c"
    await nextJob()
    #expect(reads.value == count)
  }

  @Test func `R16 the last update of a storm is the value`() async {
    let office = Office()
    let recorder = Recorder(await office.counts())
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<scaled(1_000) { await office.set(number * 4 + task) }
        }
      }
    }
    await office.set(-1)

    while await recorder.next() != [-1] {}
    #expect(recorder.updates.last == -1)
  }

  /// Waits for a job of the main actor, so that earlier jobs have run.
  private func nextJob() async {
    for _ in 0..<10 { await Task.detached { await MainActor.run {} }.value }
  }
}

@Suite(.light) @MainActor struct ObservedTests {
  @Test func `an observed value shows the current value and notifies its observers`() {
    let property = PublishedProperty(1)
    let observed = property.publisher.observed()
    #expect(observed.value == 1)
    let isToBeChanged = Shared(false)
    withObservationTracking {
      _ = observed.value
    } onChange: {
      isToBeChanged.value = true
    }
    #expect(!isToBeChanged.value)

    property.value = 2

    #expect(isToBeChanged.value)
    #expect(observed.value == 2)
  }

  @Test func `a value set on another actor is shown asynchronously`() async {
    let property = PublishedProperty(1)
    let observed = property.publisher.observed()
    let shown = Recorder(publishedValue(of: observed, \.value))

    await Task.detached { property.value = 2 }.value

    #expect(await shown.next(2) == [1, 2])
  }

  @Test func `R12 an observed value is subscribed until it is deallocated`() {
    let property = PublishedProperty(1)
    var observed: ObservedValue<Int>? = property.publisher.observed()
    #expect(property.subscriberCount == 1)
    weak let weakObserved = observed

    observed = nil

    #expect(weakObserved == nil)
    #expect(property.subscriberCount == 0)
  }

  @Test func `an observed broadcaster shows its initial value until the first update`() {
    let source = BroadcastSource<Int>()
    let observed = source.publisher.observed(initial: 0)
    #expect(observed.value == 0)

    source.broadcast(1)
    source.end()

    #expect(observed.value == 1)
  }

  @Test func `R23 observing an asynchronous published value traps with advice`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        _ = PublishedProperty(1).publisher.receive(on: .main).observed()
      }
    }
  }
}

import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct WithLatestTests {
  let taps = BroadcastSource<Int>()
  let text = PublishedProperty("a")

  private var pairs: Broadcaster<String> {
    taps.publisher.withLatest(from: text.publisher).map { tap, text in "\(text)\(tap)" }
  }

  @Test func `withLatest uses the last update of a broadcaster that finished inside subscribe`() {
    let recorder = Recorder(
      taps.publisher.withLatest(from: Broadcaster.sequence(["a", "b"])).map { $1 })
    taps.broadcast(1)
    #expect(recorder.updates == ["b"])
  }

  @Test func `R3 a callback that changes the other value does not run for that change`() {
    let recorder = Recorder(pairs) { [text, taps] pair in
      text.value += "b"
      if pair == "a1" { taps.broadcast(2) }
    }
    taps.broadcast(1)
    #expect(recorder.updates == ["a1", "ab2"])
  }

  @Test func `a value that another thread is delivering is used immediately`() {
    let isDelivering = Gate()
    let mayContinue = Gate()
    let slow = text.publisher.dropFirst().subscribe { _ in
      isDelivering.open()
      mayContinue.wait()
    }
    let updates = Shared<[String]>([])
    onThreads(2) { thread in
      if thread == 0 {
        text.value = "b"
      } else {
        isDelivering.wait()
        let recorder = Recorder(pairs)
        taps.broadcast(1)
        updates.value = recorder.updates
        mayContinue.open()
      }
    }
    #expect(updates.value == ["b1"])
    withExtendedLifetime(slow) {}
  }

  @Test func `R2 a value that changes during the subscription never goes back`() {
    let number = PublishedProperty(1)
    let isDelivering = Gate()
    let mayContinue = Gate()
    let reads = Shared(0)
    let slow = number.publisher.dropFirst().subscribe { [taps] number in
      if number == 3 { return taps.broadcast(2) }
      isDelivering.open()
      mayContinue.wait()
    }
    // The first read of this input changes the number before the number is read.
    let changing = PublishedValue.constant(0).map { _ in
      if reads.increment() == 2 { number.value = 3 }
      return 0
    }
    let both = combineLatest(changing, number.publisher) { $1 }
    let recorder = Shared<Recorder<[Int]>?>(nil)
    onThreads(2) { [taps] thread in
      if thread == 0 {
        number.value = 2
        return
      }
      isDelivering.wait()
      recorder.value = Recorder(taps.publisher.withLatest(from: both).map { [$0, $1] })
      taps.broadcast(1)
      mayContinue.open()
    }
    let updates = recorder.value?.updates ?? []
    #expect(updates.map { $0[0] } == [1, 2])
    #expect(updates.map { $0[1] } == updates.map { $0[1] }.sorted())
    withExtendedLifetime(slow) {}
  }

  @Test func `R26 withLatest unsubscribes from the value when its publisher finishes`() {
    let recorder = Recorder(pairs)
    #expect(text.publisher.current() == "a" && text.subscriberCount == 1)
    taps.end()
    #expect(recorder.hasEnded)
    #expect(text.subscriberCount == 0)
  }

  @Test func `R13 a deallocated property keeps its last value`() {
    var text: PublishedProperty<String>? = PublishedProperty("a")
    let value = text?.publisher ?? .constant("")
    let recorder = Recorder(taps.publisher.withLatest(from: value).map { $0.1 })
    text?.value = "b"
    text = nil
    taps.broadcast(1)
    #expect(recorder.updates == ["b"])
    #expect(!recorder.hasEnded)
  }

  @Test func `R9 the release of a value may send to both sources`() {
    let calls = Shared(0)
    let value = PublishedProperty<Witness?>(nil)
    let recorder = Recorder(taps.publisher.withLatest(from: value.publisher).map { $0.0 })
    value.value = Witness { [taps] in
      taps.broadcast(7)
      calls.increment()
    }
    value.value = nil
    #expect(calls.value == 1)
    #expect(recorder.updates == [7])
  }
}

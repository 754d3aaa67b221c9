import Dispatch
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

@Suite struct DispatchQueueTests {
  let queue = DispatchQueue(label: "test")

  @Test func `R20 updates arrive on the queue in order, the end behind them`() async {
    let source = BroadcastSource<Int>()
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let recorder = Recorder(
      source.publisher.receive(on: queue).map { number in
        DispatchQueue.getSpecific(key: key) == true ? number : -1
      })

    for number in 0..<1_000 { source.broadcast(number) }
    source.end()

    #expect(await recorder.next(1_001) == Array(0..<1_000))
    #expect(recorder.hasEnded)
  }

  @Test
  func
    `R20 ending before the hop prevents the call and releases the update, though the queue never runs`()
  {
    final class Thing: Sendable {}
    let source = BroadcastSource<Thing>()
    let suspended = DispatchQueue(label: "suspended")
    suspended.suspend()
    let recorder = Recorder(source.publisher.receive(on: suspended))
    weak var update: Thing?
    do {
      let thing = Thing()
      update = thing
      source.broadcast(thing)
    }
    #expect(update != nil)

    recorder.invalidate()

    #expect(update == nil)
    #expect(source.subscriberCount == 0)
    suspended.resume()
  }

  @Test func `R28 a published value stays one, with its first call late`() async {
    let property = PublishedProperty(1)
    let value: PublishedValue<Int> = property.publisher.receive(on: queue)
    #expect(value.current() == nil)

    let recorder = Recorder(value)
    property.value = 2

    #expect(await recorder.next(2) == [1, 2])
  }
}

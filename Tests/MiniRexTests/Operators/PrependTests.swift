import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct PrependTests {
  let source = BroadcastSource<Int>()

  @Test func `prepend emits its updates to each subscriber, inside subscribe`() {
    let publisher = source.publisher.prepend(1, 2)
    let early = Recorder(publisher)
    #expect(early.updates == [1, 2])
    source.broadcast(3)
    let late = Recorder(publisher)
    source.broadcast(4)
    #expect(early.updates == [1, 2, 3, 4])
    #expect(late.updates == [1, 2, 4])
  }

  @Test func `R5 a re-entrant update follows the prepended updates`() {
    let recorder = Recorder(source.publisher.prepend(1, 2)) { [source] number in
      if number == 1 { source.broadcast(3) }
    }
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `R5 an update from another thread follows the prepended updates`() {
    let isCalled = Gate()
    let isSent = Gate()
    let updates = Shared<[Int]>([])
    onThreads(2) { [source] thread in
      if thread == 0 {
        isCalled.wait()
        source.broadcast(3)
        isSent.open()
      } else {
        let recorder = Recorder(source.publisher.prepend(1, 2)) { number in
          if number == 1 {
            isCalled.open()
            isSent.wait()
          }
        }
        updates.value = recorder.updates
      }
    }
    #expect(updates.value == [1, 2, 3])
  }

  @Test func `prepend emits the current value, even if it equals the last prepended update`() {
    let size = PublishedProperty(2)
    let recorder = Recorder(size.publisher.prepend(1, 2))
    size.value = 3
    #expect(recorder.updates == [1, 2, 2, 3])
  }

  @Test func `R26 prepend emits its updates before the end of a finished publisher`() {
    source.end()
    let recorder = Recorder(source.publisher.prepend(1))
    #expect(recorder.updates == [1] && recorder.hasEnded)
    let sequence = Recorder(Broadcaster.sequence([2]).prepend(1))
    #expect(sequence.updates == [1, 2] && sequence.hasEnded)
  }

  @Test func `prefix can end within the prepended updates`() {
    let recorder = Recorder(source.publisher.prepend(1, 2).prefix(1))
    #expect(recorder.updates == [1] && recorder.hasEnded)
    #expect(source.subscriberCount == 0)
  }
}

import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct MiniRexTestingSamples {
  @Test func `a recorder collects updates`() {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher.map { $0 * 2 })
    source.broadcast(1)
    #expect(recorder.updates == [2])
  }

  @Test func `a manual clock moves when the test advances it`() {
    let source = BroadcastSource<Int>()
    let clock = ManualClock()
    let calm = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
    source.broadcast(2)
    clock.advance(by: .seconds(1))
    #expect(calm.updates == [2])
  }

  @Test func `a timeline shows inputs and expected updates`() {
    let timeline = Timeline()
    let text = timeline.value("a-bc-----")
    let calm = text.debounce(for: .seconds(2), clock: timeline.clock)
    timeline.expect("          a----c", from: calm)
    #expect(timeline.play() == nil)
  }
}

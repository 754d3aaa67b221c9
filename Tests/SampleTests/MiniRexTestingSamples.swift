import MiniRex
import MiniRexTesting
import Testing

@Suite struct MiniRexTestingSamples {
  @Test func `a recorder remembers what came`() {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher.map { $0 * 2 })
    source.broadcast(1)
    #expect(recorder.updates == [2])
  }

  @Test func `a timeline draws what goes in and what is expected`() {
    let timeline = Timeline()
    let text = timeline.value("a-bc-----")
    let calm = text.debounce(for: .seconds(2), clock: timeline.clock)
    timeline.expect("          a----c", from: calm)
    #expect(timeline.play() == nil)
  }
}

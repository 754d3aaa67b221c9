import MiniRex
import MiniRexTesting
import Testing

@Suite struct RecorderTests {
  let source = BroadcastSource<Int>()

  @Test func `it remembers what came, and reacts after that`() {
    let recorder = Recorder(source.publisher) { [source] in if $0 < 3 { source.broadcast($0 + 1) } }
    source.broadcast(1)
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `next counts from the last call`() async {
    let recorder = Recorder(source.publisher)
    for number in 1...5 { source.broadcast(number) }

    #expect(await recorder.next(2) == [1, 2])
    #expect(await recorder.next() == [3])
    #expect(await recorder.next(0) == [])
    async let rest = recorder.next(3)
    source.broadcast(6)
    #expect(await rest == [4, 5, 6])
  }

  @Test func `next returns what there is when the source ends`() async {
    let recorder = Recorder(source.publisher)
    source.broadcast(1)
    async let two = recorder.next(2)
    source.end()
    #expect(await two == [1])
    #expect(recorder.hasEnded && !recorder.isSubscribed)
    #expect(await recorder.next() == [])
  }

  @Test func `a cancelled next returns none, and takes none from the next`() async {
    let recorder = Recorder(source.publisher)
    let waiting = Task { await recorder.next() }
    waiting.cancel()
    #expect(await waiting.value == [])
    source.broadcast(1)
    #expect(await recorder.next() == [1])
  }

  @Test func `several that wait are served in order`() async {
    let recorder = Recorder(source.publisher)
    let results = await withTaskGroup(of: [Int].self) { [source] group in
      for _ in 0..<10 { group.addTask { await recorder.next(2) } }
      group.addTask {
        for number in 0..<20 { source.broadcast(number) }
        return []
      }
      return await group.reduce(into: [Int]()) { $0 += $1 }
    }
    #expect(results.sorted() == Array(0..<20))
  }

  @Test func `invalidate ends the subscription and keeps the memory`() async {
    let recorder = Recorder(source.publisher)
    source.broadcast(1)
    recorder.invalidate()
    source.broadcast(2)
    #expect(recorder.updates == [1])
    #expect(!recorder.hasEnded && !recorder.isSubscribed)
    #expect(await recorder.next(2) == [1])
  }

  @Test func `it does not outlive its last reference`() {
    var recorder: Recorder<Int>? = Recorder(source.publisher)
    withExtendedLifetime(recorder) {}
    recorder = nil
    #expect(source.subscriberCount == 0)
  }
}

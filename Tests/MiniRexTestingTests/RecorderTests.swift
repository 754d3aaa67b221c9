import MiniRex
import TestSupport
import Testing

@testable import MiniRexTesting

@Suite(.light) struct RecorderTests {
  let source = BroadcastSource<Int>()

  @Test func `a recorder stores an update before it reacts`() {
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

  @Test func `next returns the available updates when the source ends`() async {
    let recorder = Recorder(source.publisher)
    source.broadcast(1)
    async let two = recorder.next(2)
    source.end()
    #expect(await two == [1])
    #expect(recorder.hasEnded && !recorder.isSubscribed)
    #expect(await recorder.next() == [])
  }

  @Test func `a canceled next returns no update, and skips none for the next call`() async {
    let recorder = Recorder(source.publisher)
    let waiting = Task { await recorder.next() }
    waiting.cancel()
    #expect(await waiting.finished() == [])
    source.broadcast(1)
    #expect(await recorder.next() == [1])
  }

  @Test func `a canceled next returns the available updates, and prints its call`() async {
    let printed = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let source = BroadcastSource<Int>()
      let recorder = Recorder(source.publisher)
      source.broadcast(1)
      source.broadcast(2)
      let waiting = Task { await recorder.next(3) }
      waiting.cancel()
      #expect(await waiting.finished() == [1, 2])
      source.broadcast(3)
      #expect(await recorder.next() == [3])
    }
    let text = String(decoding: printed?.standardOutputContent ?? [], as: UTF8.self)
    #expect(text.contains("RecorderTests.swift:"))
    #expect(text.contains("'next(3)' was canceled after these updates: [1, 2]"))
  }

  @Test func `next returns the available updates if none arrives within the limit`() async {
    let recorder = Recorder(source.publisher)
    source.broadcast(1)
    #expect(await recorder.next(2, within: .milliseconds(10)) == [1])
    #expect(recorder.log.waiterCount == 0)
    source.broadcast(2)
    #expect(await recorder.next(within: .milliseconds(10)) == [2])
  }

  @Test func `the limit of next begins again with each update`() async {
    let recorder = Recorder(source.publisher)
    async let all = recorder.next(5, within: .milliseconds(500))
    for number in 1...5 {
      try? await Task.sleep(for: .milliseconds(200))
      source.broadcast(number)
    }
    #expect(await all == [1, 2, 3, 4, 5])
  }

  @Test(arguments: [
    (0, [[1, 2], [3, 4]]), (1, [[1, 2, 3], []]),
  ])
  func `a canceled next keeps the updates of an earlier next`(
    cancelled: Int, results: [[Int]]
  ) async {
    let recorder = Recorder(source.publisher)
    let first = Task { await recorder.next(3) }
    await until { recorder.log.waiterCount == 1 }
    let waiting = [first, Task { await recorder.next(2) }]
    await until { recorder.log.waiterCount == 2 }
    for number in 1...2 { source.broadcast(number) }
    waiting[cancelled].cancel()
    for number in 3...4 { source.broadcast(number) }

    #expect(await waiting[0].finished() == results[0])
    #expect(await waiting[1].finished() == results[1])
  }

  @Test func `concurrent calls of next are served in order`() async {
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

  @Test func `invalidate cancels the subscription and keeps the updates`() async {
    let recorder = Recorder(source.publisher)
    source.broadcast(1)
    recorder.invalidate()
    source.broadcast(2)
    #expect(recorder.updates == [1])
    #expect(!recorder.hasEnded && !recorder.isSubscribed)
    #expect(await recorder.next(2) == [1])
  }

  @Test func `a released recorder has no subscription`() {
    var recorder: Recorder<Int>? = Recorder(source.publisher)
    withExtendedLifetime(recorder) {}
    recorder = nil
    #expect(source.subscriberCount == 0)
  }
}

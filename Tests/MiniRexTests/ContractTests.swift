import MiniRex
import MiniRexTesting
import Testing

@Suite struct ContractTests {
  @Test func `R3 an update sent during a turn waits for everybody to get the current one`() {
    let source = BroadcastSource<Int>()
    let first = Recorder(source.publisher) { if $0 == 1 { source.broadcast(2) } }
    let second = Recorder(source.publisher)

    source.broadcast(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }

  @Test func `R28 smoke`() async {
    let a = PublishedProperty(1)
    let b = PublishedProperty("x")
    let both = Recorder(combineLatest(a.publisher, b.publisher.map { $0.count }))
    a.value = 2
    b.value = "y"
    b.value = "yy"
    #expect(both.updates.map { "\($0)" } == ["(1, 1)", "(2, 1)", "(2, 2)"])
    #expect(await both.next(2).count == 2)
    b.end()
    #expect(!both.hasEnded)
    a.end()
    #expect(both.hasEnded)
    #expect(combineLatest(a.publisher, b.publisher).current()?.1 == "yy")
    let p = Recorder(a.publisher.broadcaster.prefix(1))
    #expect(p.updates == [2])
    #expect(p.hasEnded)
  }
}

import MiniRex
import MiniRexTesting
import Testing

@Suite struct DeliveryRulesSamples {
  @Test func `what a callback sends reaches everybody after the current update`() {
    let numbers = BroadcastSource<Int>()
    let first = Recorder(numbers.publisher) { if $0 == 1 { numbers.broadcast(2) } }
    let second = Recorder(numbers.publisher)

    numbers.broadcast(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }
}

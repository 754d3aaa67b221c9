import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy) struct NotificationStormTests {
  @Test
  func `R2 permanent subscribers receive every post once, in order, while subscriptions change`() {
    let count = scaled(10_000)
    let center = NotificationCenter()
    let name = Notification.Name("changed")
    let releases = Shared(0)
    do {
      let witness = Witness { releases.change { $0 += 1 } }
      let numbers = center.broadcaster(for: name) { notification in
        witness.touch()
        return notification.userInfo?["number"] as? Int
      }
      // Each element has one writer: callbacks of one subscription never overlap.
      let last = (0..<100).map { _ in SerialState(-1) }
      let disorders = Shared(0)
      let bag = SubscriptionBag()
      for last in last {
        numbers.subscribe { number in
          if number != last.value + 1 { disorders.change { $0 += 1 } }
          last.value = number
        }.store(in: bag)
      }
      let isOver = Shared(false)

      onThreads(5) { index in
        if index == 0 {
          for number in 0..<count {
            center.post(name: name, object: nil, userInfo: ["number": number])
          }
          isOver.value = true
        } else {
          while !isOver.value {
            let subscription = numbers.subscribe { _ in }
            subscription.invalidate()
          }
        }
      }

      #expect(disorders.value == 0)
      let ends = last.map { $0.value }
      #expect(ends.allSatisfy { $0 == count - 1 })
      #expect(releases.value == 0)
      bag.invalidate()
    }
    #expect(releases.value == 1)
  }

  @Test func `R8 after concurrent subscriptions and cancellations the center has no observer`() {
    let center = NotificationCenter()
    let name = Notification.Name("changed")
    let reads = Shared(0)
    let numbers = center.broadcaster(for: name) { _ -> Int? in
      reads.change { $0 += 1 }
      return 1
    }
    onThreads(4) { _ in
      for _ in 0..<scaled(2_000) {
        let recorder = Shared(0)
        let subscription = numbers.subscribe { number in recorder.change { $0 += number } }
        center.post(name: name, object: nil)
        subscription.invalidate()
      }
    }
    let before = reads.value

    center.post(name: name, object: nil)

    #expect(reads.value == before)
  }
}

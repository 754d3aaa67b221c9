import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct NotificationCenterTests {
  let center = NotificationCenter()
  let name = Notification.Name("changed")

  private var numbers: Broadcaster<Int> {
    center.broadcaster(for: name) { $0.userInfo?["number"] as? Int }
  }

  private func post(_ number: Int, object: Any? = nil) {
    center.post(name: name, object: object, userInfo: ["number": number])
  }

  @Test func `each notification is read once, and nil skips it`() {
    let reads = Shared(0)
    let numbers = center.broadcaster(for: name) { notification in
      reads.change { $0 += 1 }
      return notification.userInfo?["number"] as? Int
    }
    let recorders = (0..<3).map { _ in Recorder(numbers) }

    post(1)
    center.post(name: name, object: nil)
    post(2)

    for recorder in recorders { #expect(recorder.updates == [1, 2]) }
    #expect(reads.value == 3)
  }

  @Test func `the form without a closure emits the name`() {
    let thing = Thing()
    let all = Recorder(center.broadcaster(for: name))
    let one = Recorder(center.broadcaster(for: name, object: thing))

    post(1)
    post(2, object: thing)
    center.post(name: Notification.Name("other"), object: thing)

    #expect(all.updates == [name, name])
    #expect(one.updates == [name])
  }

  @Test func `R24 callbacks run on the posting thread before the post returns`() {
    let threads = Shared<[ThreadID]>([])
    let subscription = numbers.subscribe { _ in threads.change { $0.append(.current) } }

    onThreads(1) { _ in
      post(1)
      #expect(threads.value == [.current])
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `R4 subscribers run in the order in which they subscribed`() {
    let calls = Shared<[Int]>([])
    let bag = SubscriptionBag()
    let numbers = numbers
    for index in 0..<20 {
      numbers.subscribe { _ in calls.change { $0.append(index) } }.store(in: bag)
    }

    post(1)

    #expect(calls.value == Array(0..<20))
    withExtendedLifetime(bag) {}
  }

  @Test func `R3 a re-entrant post waits until every subscriber has the current notification`() {
    let numbers = numbers
    let first = Recorder(numbers) { if $0 == 1 { post(2) } }
    let second = Recorder(numbers)

    post(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }

  @Test func `R6 canceling during a post prevents further callbacks of that post`() {
    let numbers = numbers
    let later = Shared<Recorder<Int>?>(nil)
    let first = Recorder(numbers) { _ in later.value?.invalidate() }
    later.value = Recorder(numbers)

    post(1)

    #expect(first.updates == [1])
    #expect(later.value?.updates == [])
  }

  @Test func `R12 releasing the subscription removes the observer, and the center retains nothing`()
  {
    let isReleased = Shared(false)
    do {
      let witness = Witness { isReleased.value = true }
      let numbers = center.broadcaster(for: name) { _ in
        witness.touch()
        return 1
      }
      let one = numbers.subscribe { _ in }
      var other: Subscription? = numbers.subscribe { _ in }
      #expect(other?.isSubscribed == true)
      other = nil
      #expect(one.isSubscribed)
    }

    #expect(isReleased.value)
  }

  @Test func `R8 canceling twice never removes the observer of another subscription`() {
    let numbers = numbers
    let one = numbers.subscribe { _ in }
    one.invalidate()
    let other = Recorder(self.numbers)
    one.invalidate()
    _ = consume one

    post(1)

    #expect(other.updates == [1])
  }

  @Test func `a deallocated object never matches another at its address`() {
    for _ in 0..<1_000 {
      var thing: Thing? = Thing()
      let recorder = Recorder(center.broadcaster(for: name, object: thing))
      post(1, object: thing)
      thing = nil
      post(2, object: Thing())
      #expect(recorder.updates == [name])
    }
  }

  @Test func `a publisher for a deallocated object returns an ended subscription`() {
    let dead = center.broadcaster(for: name, object: Thing())

    #expect(!dead.subscribe { _ in }.isSubscribed)
  }

  @Test func `the closure selects notifications by the value of their object`() {
    let recorder = Recorder(
      center.broadcaster(for: name) { $0.object as? String == "this" ? 1 : nil })

    post(1, object: "that")
    post(2, object: "this")

    #expect(recorder.updates == [1])
  }

  @Test func `R13 deallocating the center finishes its subscriptions`() {
    var center: NotificationCenter? = NotificationCenter()
    weak let weakCenter = center
    let publisher = center?.broadcaster(for: name)
    let recorder = publisher.map { Recorder($0) }

    center = nil

    #expect(weakCenter == nil)
    #expect(recorder?.hasEnded == true)
    #expect(publisher?.subscribe { _ in }.isSubscribed == false)
  }

  @Test func `a publisher registers again for the next subscriber`() {
    let numbers = numbers
    let first = Recorder(numbers)
    post(1)
    first.invalidate()
    post(2)
    let second = Recorder(numbers)
    post(3)

    #expect(first.updates == [1])
    #expect(second.updates == [3])
  }

  @Test func `post sends the update in the sender's name while the sender exists`() {
    let source = BroadcastSource<Int>()
    var sender: Thing? = Thing()
    let recorder = Recorder(
      center.broadcaster(for: name, object: sender) { $0.userInfo?["update"] as? Int })
    let posting = source.publisher.post(to: center, as: name, object: sender)

    source.broadcast(1)
    source.broadcast(2)
    #expect(recorder.updates == [1, 2])

    sender = nil
    source.broadcast(3)
    #expect(recorder.updates == [1, 2])
    #expect(!posting.isSubscribed)
    #expect(source.subscriberCount == 0)
  }

  @Test func `the closure of post makes the user info, and post does not retain the center`() {
    let source = BroadcastSource<Int>()
    var center: NotificationCenter? = NotificationCenter()
    let recorder = center.map { center in
      Recorder(center.broadcaster(for: name) { $0.userInfo?["twice"] as? Int })
    }
    let posting = center.map {
      source.publisher.post(to: $0, as: name) { ["twice": $0 * 2] }
    }
    source.broadcast(1)
    #expect(recorder?.updates == [2])

    center = nil
    source.broadcast(2)

    #expect(posting?.isSubscribed == false)
  }

  @Test func `two concurrent subscribers both receive every later post`() {
    for _ in 0..<scaled(300) {
      let numbers = numbers
      let recorders = Shared<[Int: Recorder<Int>]>([:])
      onThreads(2) { index in
        let recorder = Recorder(numbers)
        recorders.change { $0[index] = recorder }
        post(index)
      }
      post(2)
      for (index, recorder) in recorders.value {
        #expect(recorder.updates.contains(index))
        #expect(recorder.updates.last == 2)
      }
    }
  }
}

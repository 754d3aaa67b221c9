import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct NotificationCenterTests {
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

  @Test func `the form of the name alone calls with the name`() {
    let thing = Thing()
    let all = Recorder(center.broadcaster(for: name))
    let one = Recorder(center.broadcaster(for: name, object: thing))

    post(1)
    post(2, object: thing)
    center.post(name: Notification.Name("other"), object: thing)

    #expect(all.updates == [name, name])
    #expect(one.updates == [name])
  }

  @Test func `R24 callbacks run on the thread that posts, before the post returns`() {
    let threads = Shared<[ThreadID]>([])
    let subscription = numbers.subscribe { _ in threads.change { $0.append(.current) } }

    onThreads(1) { _ in
      post(1)
      #expect(threads.value == [.current])
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `R4 subscribers are called in the order in which they subscribed`() {
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

  @Test func `R3 a post inside a callback waits for everybody to get the current one`() {
    let numbers = numbers
    let first = Recorder(numbers) { if $0 == 1 { post(2) } }
    let second = Recorder(numbers)

    post(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }

  @Test func `R6 who is ended during a post is not called in it any more`() {
    let numbers = numbers
    let later = Shared<Recorder<Int>?>(nil)
    let first = Recorder(numbers) { _ in later.value?.invalidate() }
    later.value = Recorder(numbers)

    post(1)

    #expect(first.updates == [1])
    #expect(later.value?.updates == [])
  }

  @Test func `R12 dropping the token unregisters, and the centre holds nothing any more`() {
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

  @Test func `R8 ending twice never takes away the registration of somebody else`() {
    let numbers = numbers
    let one = numbers.subscribe { _ in }
    one.invalidate()
    let other = Recorder(self.numbers)
    one.invalidate()
    _ = consume one

    post(1)

    #expect(other.updates == [1])
  }

  @Test func `an object that has died never lends its address to another`() {
    for _ in 0..<1_000 {
      var thing: Thing? = Thing()
      let recorder = Recorder(center.broadcaster(for: name, object: thing))
      post(1, object: thing)
      thing = nil
      post(2, object: Thing())
      #expect(recorder.updates == [name])
    }
  }

  @Test func `a publisher of an object that has died gives an ended token`() {
    let dead = center.broadcaster(for: name, object: Thing())

    #expect(!dead.subscribe { _ in }.isSubscribed)
  }

  @Test func `a value is looked for by what it is, in the closure`() {
    let recorder = Recorder(
      center.broadcaster(for: name) { $0.object as? String == "this" ? 1 : nil })

    post(1, object: "that")
    post(2, object: "this")

    #expect(recorder.updates == [1])
  }

  @Test func `R13 the end of the centre is the end of its subscriptions`() {
    var center: NotificationCenter? = NotificationCenter()
    weak let weakCenter = center
    let publisher = center?.broadcaster(for: name)
    let recorder = publisher.map { Recorder($0) }

    center = nil

    #expect(weakCenter == nil)
    #expect(recorder?.hasEnded == true)
    #expect(publisher?.subscribe { _ in }.isSubscribed == false)
  }

  @Test func `after its last subscriber a publisher registers anew for the next`() {
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

  @Test func `posting carries the update, under the object's name, while all of them live`() {
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

  @Test func `posting says in the closure what a notification carries, and keeps no centre`() {
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

  @Test func `two subscribers that come at once both get what is sent from then on`() {
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

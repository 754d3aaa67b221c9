import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

final class Door: Sendable {}

struct DoorOpened: NotificationCenter.MainActorMessage {
  typealias Subject = Door
  let name: String
}

struct DoorLocked: NotificationCenter.AsyncMessage {
  typealias Subject = Door
  let number: Int
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<DoorOpened> {
  static var opened: Self { .init() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<DoorLocked> {
  static var locked: Self { .init() }
}

@Suite(.light) struct NotificationMessageTests {
  let center = NotificationCenter()
  let door = Door()

  @Test @MainActor func `main-actor messages are delivered there, before the post returns`() {
    let all = Recorder(center.broadcaster(for: DoorOpened.self) { $0.name })
    let one = Recorder(center.broadcaster(of: door, for: DoorOpened.self) { $0.name })
    let named = Recorder(center.broadcaster(of: Door.self, for: .opened) { $0.name })

    center.post(DoorOpened(name: "a"), subject: door)
    center.post(DoorOpened(name: "b"), subject: Door())

    #expect(all.updates == ["a", "b"])
    #expect(one.updates == ["a"])
    #expect(named.updates == ["a", "b"])
  }

  @Test @MainActor func `R3 a message posted by a callback is delivered after the current message`()
  {
    let names = center.broadcaster(for: DoorOpened.self) { $0.name }
    let first = Recorder(names) { [center, door] name in
      MainActor.assumeIsolated {
        if name == "a" { center.post(DoorOpened(name: "b"), subject: door) }
      }
    }
    let second = Recorder(names)

    center.post(DoorOpened(name: "a"), subject: door)

    #expect(first.updates == ["a", "b"])
    #expect(second.updates == ["a", "b"])
  }

  @Test func `all subscribers receive asynchronous messages in the same order`() async {
    let messages = center.broadcaster(for: DoorLocked.self).map { $0.number }
    let (one, other) = (Recorder(messages), Recorder(messages))

    for number in 0..<100 { center.post(DoorLocked(number: number), subject: door) }

    let numbers = await one.next(100)
    #expect(numbers.sorted() == Array(0..<100))
    #expect(await other.next(100) == numbers)
  }

  @Test func `asynchronous messages are filtered by subject`() async {
    let one = Recorder(center.broadcaster(of: door, for: DoorLocked.self))
    let all = Recorder(center.broadcaster(of: Door.self, for: .locked))

    center.post(DoorLocked(number: 1), subject: Door())
    center.post(DoorLocked(number: 2), subject: door)

    #expect(await one.next().map { $0.number } == [2])
    #expect(await all.next(2).map { $0.number }.sorted() == [1, 2])
  }

  @Test @MainActor func `a deallocated subject never matches another at its address`() {
    for _ in 0..<100 {
      var door: Door? = Door()
      let recorder = Recorder(center.broadcaster(of: door, for: DoorOpened.self) { $0.name })
      if let door { center.post(DoorOpened(name: "a"), subject: door) }
      door = nil
      center.post(DoorOpened(name: "b"), subject: Door())
      #expect(recorder.updates == ["a"])
    }
  }

  @Test @MainActor func `R12 releasing the last subscription removes the observer from the center`()
  {
    let isReleased = Shared(false)
    do {
      let witness = Witness { isReleased.value = true }
      let names = center.broadcaster(for: DoorOpened.self) { message in
        witness.touch()
        return message.name
      }
      let subscription = names.subscribe { _ in }
      #expect(subscription.isSubscribed)
    }

    #expect(isReleased.value)
  }

  @Test func `R13 deallocating the center finishes its subscriptions`() {
    var center: NotificationCenter? = NotificationCenter()
    let recorder = center.map { Recorder($0.broadcaster(for: DoorOpened.self) { $0.name }) }

    center = nil

    #expect(recorder?.hasEnded == true)
  }

  @Test func `a subscription to asynchronous messages retains the center until it is canceled`() {
    var center: NotificationCenter? = NotificationCenter()
    weak let weakCenter = center
    let recorder = center.map { Recorder($0.broadcaster(for: DoorLocked.self)) }

    center = nil
    #expect(weakCenter != nil)
    recorder?.invalidate()

    #expect(weakCenter == nil)
  }
}

import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// What one thread does while a turn runs on another.
extension TogetherTests {
  /// Sets the number to 1 on a thread of its own, and runs the body on another one while that turn
  /// is held in the transform that it gets.
  private func whileHeld(
    by hold: (@escaping @Sendable (Int) -> Void) -> Void, _ body: @escaping @Sendable () -> Void
  ) {
    let (isInside, mayGoOn) = (Gate(), Gate())
    hold { number in
      if number != 1 { return }
      isInside.open()
      mayGoOn.wait()
    }
    onThreads(2) { [number] thread in
      if thread == 0 {
        number.value = 1
        return
      }
      isInside.wait()
      body()
      mayGoOn.open()
    }
  }

  @Test func `R30 a turn that began before the combination joined holds nothing back`() {
    let holding = Shared<Subscription?>(nil)
    let made = Shared<Recorder<[Int]>?>(nil)
    whileHeld {
      holding.value = number.publisher.subscribe($0)
    } _: { [number, other] in
      made.value = Recorder(
        combineLatest(number.publisher, number.publisher.map { $0 * 10 }, other.publisher) {
          [$0, $1, $2]
        })
      other.value = 5
    }
    number.value = 2
    #expect(made.value?.updates == [[1, 10, 5], [2, 20, 5]])
  }

  @Test func `R30 turns of two sources on two threads wait for each other`() {
    let made = Shared<Recorder<[Int]>?>(nil)
    whileHeld { hold in
      let tens = number.publisher.map { number in
        hold(number)
        return number * 10
      }
      made.value = Recorder(
        combineLatest(number.publisher, tens, other.publisher, other.publisher.map { -$0 }) {
          [$0, $1, $2, $3]
        })
    } _: { [other] in
      other.value = 2
      #expect(made.value?.updates == [[0, 0, 0, 0]])
    }
    #expect(made.value?.updates == [[0, 0, 0, 0], [1, 10, 2, -2]])
    other.value = 3
    #expect(made.value?.updates.last == [1, 10, 3, -3])
  }

  @Test func `R30 an input that switches on another thread in mid-turn does not divide that turn`()
  {
    let selected = PublishedProperty(PublishedValue.constant(-1))
    let made = Shared<Recorder<[Int]>?>(nil)
    whileHeld { hold in
      let tens = number.publisher.map { number in
        hold(number)
        return number * 10
      }
      made.value = Recorder(
        combineLatest(number.publisher, tens, selected.publisher.switchToLatest()) { [$0, $1, $2] })
    } _: { [number] in
      selected.value = number.publisher.map { $0 * 100 }
      #expect(made.value?.updates == [[0, 0, -1]])
    }
    number.value = 2
    let updates = made.value?.updates ?? []
    #expect(updates.last == [2, 20, 200])
    #expect(updates.allSatisfy { $0[1] == $0[0] * 10 && [-1, $0[0] * 100].contains($0[2]) })
  }
}

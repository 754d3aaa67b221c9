import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Operations on one thread while a turn runs on another thread.
extension GlitchFreedomTests {
  /// Sets the number to 1 on a separate thread, and runs the body on another thread while the
  /// transform blocks that turn.
  private func whileHeld(
    by hold: (@escaping @Sendable (Int) -> Void) -> Void, _ body: @escaping @Sendable () -> Void
  ) {
    let (isInside, mayContinue) = (Gate(), Gate())
    hold { number in
      if number != 1 { return }
      isInside.open()
      mayContinue.wait()
    }
    onThreads(2) { [number] thread in
      if thread == 0 {
        number.value = 1
        return
      }
      isInside.wait()
      body()
      mayContinue.open()
    }
  }

  @Test func `R30 a turn that began before the combination subscribed delays nothing`() {
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

  @Test func `R30 overlapping turns of two sources emit one update afterward`() {
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

  @Test func `R30 an input that switches on another thread does not split a turn`() {
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

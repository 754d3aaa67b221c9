import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// A subscription of a computed value has its own state. No other graph and no writer slows it.
extension ComputedTests {
  @Test func `R14 no change is lost between the first run and the changes that follow`() {
    let source = PublishedProperty(1)
    let value = PublishedValue.computed { [runs] read in
      let value = read(source)
      if runs.increment() == 1 { onThreads(1) { _ in source.value = 2 } }
      return value
    }
    let recorder = Recorder(value)
    source.value = 3
    source.value = 4
    #expect(recorder.updates == [1, 2, 3, 4])
  }

  @Test func `R14 the first value belongs to one instant`() {
    let value = PublishedValue.computed { [a, b, runs] read in
      let first = read(a)
      if runs.increment() == 1 {
        onThreads(1) { _ in
          together { set in
            set(a, to: 10)
            set(b, to: 20)
          }
        }
      }
      return [first, read(b)]
    }
    let recorder = Recorder(value)
    a.value = 11
    #expect(recorder.updates == [[10, 20], [11, 20]])
  }

  @Test func `R16 a result keeps the dependencies of an equal dependency after a subscription`() {
    let flag = PublishedProperty(true)
    b.value = 1
    let inner = PublishedValue.computed { [a, b] read in read(flag) ? read(a) : read(b) }
    let outer = PublishedValue.computed { read in read(inner) * 10 }
    let recorder = Recorder(outer)
    flag.value = false  // `inner` is still 1, but depends on `b`.
    recorder.invalidate()
    b.value = 7
    #expect(outer.current() == 70)
  }

  @Test func `R39 a change that closes a cycle traps with all names`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      mustEnd()
      let (flag, right, _) = makeConditionalCycle()
      let subscription = right.subscribe { _ in }
      flag.value = true
      subscription.invalidate()
    }
    #expect(namesInCycle(result) == ["right", "left", "right"])
  }

  @Test func `R39 a read of a cycle traps with all names`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      mustEnd()
      let (flag, right, left) = makeConditionalCycle()
      _ = (left.current(), right.current())
      flag.value = true
      _ = right.current()
    }
    #expect(namesInCycle(result) == ["right", "left", "right"])
  }

  @Test func `R42 a computed value is never far behind`() async {
    let (running, written) = (Gate(), Gate())
    let sum = PublishedValue.computed { [a, b, runs] read in
      runs.increment()
      if read(a) == 5, read(b) == 2 {
        running.open()
        written.wait()
      }
      return [read(a), read(b)]
    }
    let seen = Shared([[Int]]())
    let subscription = sum.subscribe { seen.append($0) }
    let thread = Thread { [a] in a.value = 5 }
    thread.start()
    running.wait()
    onThreads(1) { [b] _ in for value in 3...100 { b.value = value } }
    #expect(subscription.pendingUpdates == 1)
    onThreads(1) { [a] _ in for value in 6...100 { a.value = value } }
    written.open()
    await until { seen.value.last == [100, 100] }
    #expect(seen.value.count <= 4)
    #expect(seen.value.prefix(2) == [[1, 2], [5, 2]])
    #expect(runs.value == seen.value.count)
    subscription.invalidate()
  }

  @Test func `R42 a program with one thread sees no folding`() {
    let value = PublishedValue.computed { [a, b] read in [read(a), read(b)] }
    let recorder = Recorder(value) { [a, b] update in
      if update == [2, 2] {
        for value in 3...5 { a.value = value }
        for value in 3...5 { b.value = value }
      }
    }
    a.value = 2
    let values = [[1, 2], [2, 2], [2, 3], [2, 4], [2, 5], [3, 5], [4, 5], [5, 5]]
    #expect(recorder.updates == values)
  }

  @Test func `R31 delivered waits for the queue of a computed value`() async {
    await expectDelivered(.computed { [a, b] read in [read(a), read(b)] })
  }

  @Test func `R31 delivered waits for the queues of several combinations`() async {
    let pair = combineLatest(a.publisher, b.publisher) { [$0, $1] }
    await expectDelivered(pair)
    let other = PublishedProperty(0)
    await expectDelivered(combineLatest(pair, other.publisher) { pair, _ in pair })
    let computed = PublishedValue.computed { read in read(pair) }
    await expectDelivered(combineLatest(computed, other.publisher) { pair, _ in pair })
  }

  /// The subscriber is in a callback for `a` when another thread sets `b`.
  private func expectDelivered(_ value: PublishedValue<[Int]>) async {
    let (entered, end) = (Gate(), Gate())
    let seen = Shared([[Int]]())
    a.value = 1
    b.value = 2
    let subscription = value.subscribe { update in
      if update == [5, 2] {
        entered.open()
        end.wait()
      }
      seen.append(update)
    }
    let thread = Thread { [a] in a.value = 5 }
    thread.start()
    entered.wait()
    b.value = 6
    #expect(subscription.pendingUpdates == 1)
    let waiter = Task { [b] in
      await b.delivered()
      return seen.value
    }
    // A waiter that does not wait has usually returned by then.
    try? await Task.sleep(for: .milliseconds(50))
    end.open()
    #expect(await waiter.finished() == [[1, 2], [5, 2], [5, 6]])
    subscription.invalidate()
  }

  @Test func `R41 a source that is found during a batch emits with the batch`() {
    let (entered, end) = (Gate(), Gate())
    let flag = PublishedProperty(false)
    let first = a.publisher.subscribe {
      if $0 != 5 { return }
      entered.open()
      end.wait()
    }
    let value = PublishedValue.computed { [a, b] read in [read(a), read(flag) ? read(b) : 0] }
    let recorder = Recorder(value)
    let isDone = Gate()
    let thread = Thread { [a, b] in
      together { set in
        set(a, to: 5)
        set(b, to: 6)
      }
      isDone.open()
    }
    thread.start()
    entered.wait()
    flag.value = true
    #expect(recorder.updates == [[1, 0]])
    end.open()
    isDone.wait()
    #expect(recorder.updates == [[1, 0], [5, 6]])
    first.invalidate()
  }

  @Test func `R11 a long chain is released, read, and updated on a small stack`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      onSmallStack {
        let count = chainSteps(20_000)
        let head = PublishedProperty(0)
        func chain(reading: Bool) -> PublishedValue<Int> {
          var last = head.publisher
          for _ in 0..<count {
            last = .computed { [last] read in read(last) + 1 }
            if reading { #expect(last.current() != nil) }
          }
          return last
        }
        _ = chain(reading: false)
        let last = chain(reading: true)
        head.value = 1
        #expect(last.current() == count + 1)
        let seen = Shared(0)
        let subscription = last.subscribe { seen.value = $0 }
        for value in 2...3 {
          head.value = value
          #expect(seen.value == count + value)
        }
        subscription.invalidate()
        head.value = 4
        #expect(last.current() == count + 4)
      }
    }
  }
}

/// Two computed values that read each other if a flag is set.
private func makeConditionalCycle() -> (
  flag: PublishedProperty<Bool>, right: PublishedValue<Int>, left: PublishedValue<Int>
) {
  let flag = PublishedProperty(false)
  let cell = Shared<PublishedValue<Int>?>(nil)
  let right = PublishedValue.computed(name: "right") { read in
    read(flag) ? cell.value.map { read($0) } ?? 0 : 1
  }
  let left = PublishedValue.computed(name: "left") { read in read(right) }
  cell.value = left
  return (flag, right, left)
}

private func namesInCycle(_ result: ExitTest.Result?) -> [Substring] {
  advice(result).matches(of: /'(left|right)' \(/).map(\.1)
}

private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
  let isDone = Gate()
  let thread = Thread {
    body()
    isDone.open()
  }
  thread.stackSize = 512 * 1_024
  thread.start()
  isDone.wait()
}

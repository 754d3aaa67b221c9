import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S1 every change is one numbered commit with its cause and state`() {
    let store = Store(Counter(), reducer: addOrRename)
    let plain = Store(Counter())
    let sent = Recorder(store.events.compactMap { $0.commit })
    let written = Recorder(plain.events.compactMap { $0.commit })

    store.send(.add(2))
    store.send(.add(0))
    plain.commit("twice") { $0.count = 4 }
    plain.count += 1
    plain.commit { _ in }

    #expect(sent.updates.map(\.number) == [1, 2])
    #expect(sent.updates.map(\.state.count) == [2, 2])
    #expect(sent.updates.map { "\($0.cause)" } == ["add(2)", "add(0)"])
    #expect(written.updates.map(\.number) == [1, 2, 3])
    #expect(written.updates.map(\.state.count) == [4, 5, 5])
    #expect(written.updates.map { "\($0.cause)" } == ["twice", "\\Counter.count", "change"])
  }

  @Test func `S2 send reduces, delivers, starts effects, and returns, in this order`() {
    let log = Log()
    let store = storeWithin(0) { (store, state: inout Int, action: Int) in
      log.add("reduce \(action)")
      state += action
      if action != 1 { return .none }
      return .merge(
        .publisher {
          log.add("first, \(store.state)")
          return Broadcaster<Int>.sequence([]).broadcaster
        },
        .publisher {
          log.add("second")
          return Broadcaster<Int>.sequence([])
        }, .send(10))
    }
    let recorder = Recorder(store.publisher) { log.add("told \($0)") }

    store.send(1)
    log.add("returned")

    #expect(
      log.lines == [
        "told 0", "reduce 1", "reduce 10", "told 1", "told 11", "first, 11", "second", "returned",
      ])
    withExtendedLifetime(recorder) {}
  }

  @Test func `S2 the first action is sent before init returns`() {
    let store = Store(Counter(), first: .add(3), reducer: addOrRename)

    #expect(store.state.count == 3)
  }

  @Test func `S3 send and commit are thread-safe and lose no change`() {
    let store = Store(Counter(), reducer: addOrRename)
    let plain = Store(Counter())
    let overlapping = Shared(0)
    let inside = Shared(0)
    let strict = Store(0) { (state: inout Int, action: Int) in
      if inside.increment() != 1 { overlapping.increment() }
      state += action
      inside.increment(by: -1)
      return .none
    }
    let isVisible = Shared(true)

    onThreads(8) { _ in
      for _ in 0..<1_000 {
        let before = store.state.count
        store.send(.add(1))
        if store.state.count <= before { isVisible.value = false }
        plain.count += 1
        strict.send(1)
      }
    }

    #expect(store.state.count == 8_000)
    #expect(plain.state.count == 8_000)
    #expect(strict.state == 8_000)
    #expect(overlapping.value == 0)
    #expect(isVisible.value)
  }

  @Test func `S3 send returns before delivery while another thread is delivering`() {
    let store = Store(Counter(), reducer: addOrRename)
    let isInside = Gate()
    let mayReturn = Gate()
    let recorder = Recorder(store.publisher(of: \.count)) {
      if $0 == 1 {
        isInside.open()
        mayReturn.wait()
      }
    }

    onThreads(2) { thread in
      if thread == 0 {
        _ = store.send(.add(1))
        return
      }
      isInside.wait()
      store.send(.add(1))
      #expect(store.state.count == 2)
      #expect(recorder.updates == [0, 1])
      mayReturn.open()
    }

    #expect(recorder.updates == [0, 1, 2])
  }

  @Test
  func `S4 actions sent by a reducer are reduced next, in order`() {
    let order = Shared<[Int]>([])
    let store = storeWithin(0) { (store, state: inout Int, action: Int) in
      order.change { $0.append(action) }
      state += 1
      guard action == 1 else { return .none }
      store.send(2)
      store.send(3)
      #expect(order.value == [1])
      return .merge(.send(4), .send(5))
    }
    let numbers = Recorder(store.events.compactMap { $0.commit?.number })

    store.send(1)

    #expect(order.value == [1, 2, 3, 4, 5])
    #expect(numbers.updates == [1, 2, 3, 4, 5])
  }

  @Test func `S4 four nested increments make 4 and share one task`() async throws {
    let source = BroadcastSource<Int>()
    let inner = Shared<StoreTask?>(nil)
    let store = storeWithin(0) { (store, state: inout Int, action: Int) in
      state += 1
      if action > 0 { inner.value = store.send(action - 1) }
      return action == 0 ? .publisher { source.publisher } : .none
    }

    let task = store.send(3)

    #expect(store.state == 4)
    #expect(!task.isFinished)
    #expect(inner.value?.isFinished == false)
    source.end()
    try await task.finished()
    #expect(inner.value?.isFinished == true)
  }

  @Test func `S4 no action of another thread interrupts a chain`() {
    let order = Shared<[Int]>([])
    let store = Store(0) { (state: inout Int, action: Int) in
      order.change { $0.append(action) }
      return action % 10 < 3 ? .send(action + 1) : .none
    }

    onThreads(4) { thread in
      for round in 0..<200 { store.send((thread * 200 + round) * 10) }
    }

    let all = order.value
    #expect(all.count == 3_200)
    let isWhole = stride(from: 0, to: all.count, by: 4).allSatisfy { start in
      (0..<4).allSatisfy { all[start + $0] == all[start] + $0 }
    }
    #expect(isWhole)
  }

  @Test func `S4 a reducer's sends are queued, even while other threads wait`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let order = Shared<[Int]>([])
      let isInside = Gate()
      let others = Shared<[String]>([])
      let store = storeWithin(0) { (store, state: inout Int, action: Int) in
        order.change { $0.append(action) }
        if action != 1 { return .none }
        isInside.open()
        while others.value.filter(isAsleep).count < 2 {}
        store.send(2)
        return .none
      }

      onThreads(3) { thread in
        if thread == 0 {
          store.send(1)
          return
        }
        isInside.wait()
        let path = "/proc/thread-self"
        guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
          return
        }
        others.change { $0.append(own) }
        store.send(3)
      }

      precondition(order.value == [1, 2, 3, 3])
    }
  }

  @Test func `S5 a send from a callback commits synchronously and is delivered afterward`() {
    let store = Store(Counter(), reducer: addOrRename)
    let seen = Shared<[Int]>([])
    let first = Recorder(store.publisher(of: \.count)) { count in
      if count == 1 {
        store.send(.add(10))
        seen.change { $0.append(store.state.count) }
      }
    }
    let second = Recorder(store.publisher(of: \.count))

    store.send(.add(1))

    #expect(seen.value == [11])
    #expect(first.updates == [0, 1, 11])
    #expect(second.updates == [0, 1, 11])
  }

  @Test(arguments: ["callbacks", "sends", "publishers"])
  func `S6 a chain of a million actions fits a 512 KiB stack`(_ way: String) async {
    // Overflows the stack if an action needs 52 bytes of it. `Scripts/soak` takes the million.
    let count = chainSteps(overflowingDepth)
    let last = Shared(0)
    await onQueue {
      onThread(stackSize: 512 * 1_024) {
        let store = Store(0) { (state: inout Int, action: Int) in
          state += 1
          if state == count { return .none }
          switch way {
          case "sends": return .send(0)
          case "publishers": return .publisher { PublishedValue.constant(0) }
          default: return .none
          }
        }
        let token = store.publisher.subscribe { [weak store] number in
          if way == "callbacks", number < count { store?.send(0) }
        }
        if way != "callbacks" {
          token.invalidate()
          store.send(0)
        }
        last.value = store.state
        withExtendedLifetime(token) {}
      }
    }

    #expect(last.value == count)
  }

  @Test func `S6 an action sent during an effect's start is reduced immediately`() {
    let log = Log()
    let store = Store(0) { (state: inout Int, action: Int) in
      log.add("reduce \(action)")
      guard action < 3 else { return .none }
      return .publisher {
        log.add("begin \(action)")
        return Broadcaster { receive in
          receive(action + 1)
          log.add("began \(action)")
          return Subscription {}
        }
      }
    }

    store.send(1)

    #expect(
      log.lines == ["reduce 1", "begin 1", "reduce 2", "began 1", "begin 2", "reduce 3", "began 2"])
  }

  @Test func `S7 no lock is held while user code runs`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let other = Store(0) { (state: inout Int, action: Int) in
        state += action
        return .none
      }
      let store = WeakBox<Store<Nosy, Int>>()
      @Sendable func look() {
        _ = other.state
        _ = store.value?.pendingUpdates
        _ = store.value?.subscriberCount
      }
      let real = Store(Nosy(0, onCompare: look)) { (state: inout Nosy, action: Int) in
        look()
        other.send(1)
        state = Nosy(action, onCompare: look)
        return .publisher {
          look()
          return Broadcaster<Int>.never
        }
        .cancellable(id: Nosy(1, onCompare: look), cancelInFlight: true)
      }
      store.value = real
      let recorder = Recorder(real.publisher) { _ in
        look()
        real.publisher.subscribe { _ in look() }.invalidate()
      }

      for number in 1..<5 { real.send(number) }

      precondition(recorder.updates.map(\.number) == [0, 1, 2, 3, 4])
      precondition(other.state == 4)
    }
  }

  @Test func `S8 send mutates the state in place, without copying it`() {
    let store = Store([Int](repeating: 0, count: 100_000)) { (state: inout [Int], action: Int) in
      let before = unsafe state.withUnsafeBufferPointer { $0.baseAddress }
      state[action] += 1
      let after = unsafe state.withUnsafeBufferPointer { $0.baseAddress }
      #expect(unsafe before == after)
      return .none
    }
    let recorder = Recorder(store.publisher(of: \.count))

    for index in 0..<10 { store.send(index) }

    #expect(recorder.updates == [100_000])
  }
}

/// Returns `true` if the thread with this folder in `/proc` sleeps.
private func isAsleep(_ thread: String) -> Bool {
  let status = try? String(contentsOfFile: "/proc/\(thread)/status", encoding: .utf8)
  return status?.contains("State:\tS") == true
}

/// Lines in the order in which they were added.
final class Log: Sendable {
  private let shared = Shared<[String]>([])

  func add(_ line: String) { shared.change { $0.append(line) } }

  var lines: [String] { shared.value }
}

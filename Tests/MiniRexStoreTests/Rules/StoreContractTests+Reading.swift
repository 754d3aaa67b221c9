import MiniRex
import MiniRexStore
import MiniRexTesting
import Observation
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S10 publisher emits the current state once, then each different state`() {
    let store = Store(Counter(), reducer: addOrRename)
    let recorder = Recorder(store.publisher)
    let late = Shared<Recorder<Counter>?>(nil)

    store.send(.add(1))
    store.send(.add(0))
    late.value = Recorder(store.publisher)
    store.send(.rename("a"))

    #expect(recorder.updates.map(\.count) == [0, 1, 1])
    #expect(late.value?.updates.map(\.name) == ["", "a"])
    #expect(store.publisher.current() == store.state)
  }

  @Test func `S10 a state that is not Equatable is emitted with each commit`() {
    struct Opaque: Sendable { var number = 0 }
    let store = Store(Opaque())
    let recorder = Recorder(store.publisher)

    store.commit { _ in }
    store.commit { _ in }

    #expect(recorder.updates.count == 3)
  }

  @Test func `S11 publisher(of:) compares only the selected value`() {
    struct Whole: Sendable, Equatable {
      var whole: Nosy
      var part = 0
    }
    let compared = Shared(0)
    let store = Store(Whole(whole: Nosy(0) { compared.increment() }))
    let part = Recorder(store.publisher(of: \.part))
    let text = Recorder(store.publisher(of: { "\($0.part)" }))

    store.part += 1
    store.commit { $0.whole = Nosy(1) { compared.increment() } }
    store.part += 1

    #expect(part.updates == [0, 1, 2])
    #expect(text.updates == ["0", "1", "2"])
    #expect(compared.value == 0)
  }

  @Test func `S11 R14 a child has no gap and no duplicate while threads commit`() {
    let store = Store(Counter(), reducer: addOrRename)
    let runs = Shared<[[Int]]>([])

    onThreads(4) { thread in
      for _ in 0..<scaled(500) {
        if thread < 2 {
          store.send(.add(1))
        } else {
          let recorder = Recorder(store.publisher(of: \.count))
          _ = store.state
          recorder.invalidate()
          runs.change { $0.append(recorder.updates) }
        }
      }
    }

    let isContiguous = runs.value.allSatisfy { run in
      zip(run, run.dropFirst()).allSatisfy { $1 == $0 + 1 }
    }
    #expect(isContiguous)
  }

  @Test func `S12 events emits commits, starts, and ends once, in one order`() {
    let log = Log()
    let source = BroadcastSource<CounterAction>()
    let store = Store(Counter()) { (state: inout Counter, action: CounterAction) in
      _ = addOrRename(&state, action)
      guard case .rename(let name) = action else { return .none }
      switch name {
      case "start": return .publisher { source.publisher }.cancellable(id: "load %d")
      case "stop": return .cancel(id: "load %d")
      default: return .send(.add(100))
      }
    }
    let events = Recorder(store.events) { event in
      switch event {
      case .committed(let commit): log.add("commit \(commit.number)")
      case .began(let run): log.add("began \(run.name ?? "")")
      case .ended(let run, let end, _): log.add("\(run.name ?? "") \(end)")
      }
    }
    let values = Recorder(store.publisher(of: \.count)) { log.add("value \($0)") }

    store.send(.rename("start"))
    source.broadcast(.add(1))
    store.send(.rename("stop"))
    store.send(.rename("other"))

    #expect(
      log.lines == [
        "value 0", "commit 1", "began load %d", "commit 2", "value 1", "commit 3",
        "load %d ✖ cancelled", "commit 4", "commit 5", "value 101",
      ])
    let lines = events.updates.map { "\($0)" }
    #expect(lines[0] == "1 rename(\"start\")")
    #expect(lines[1] == "1 load %d began")
    #expect(lines[4].hasPrefix("1 load %d ✖ cancelled after "))
    withExtendedLifetime(values) {}
  }

  @Test func `S13 in a callback, the state is the delivered commit's or newer`() {
    let store = Store(Counter(), reducer: addOrRename)
    let isBehind = Shared(false)
    let token = store.events.subscribe { event in
      if let commit = event.commit, store.state.count < commit.state.count { isBehind.value = true }
    }

    onThreads(4) { _ in for _ in 0..<scaled(500) { store.send(.add(1)) } }

    #expect(!isBehind.value)
    withExtendedLifetime(token) {}
  }

  @Test
  func `S14 onChange runs once, after the next commit that changes the member`() {
    let store = Store(Counter(), reducer: addOrRename)
    let found = Shared<[Int]>([])
    let untouched = Shared(0)

    withObservationTracking {
      #expect(store.count == 0)
    } onChange: {
      found.change { $0.append(store.state.count) }
    }
    withObservationTracking {
      #expect(store.state.count == 0)
    } onChange: {
      untouched.increment()
    }
    store.send(.rename("a"))
    store.send(.add(1))
    store.send(.add(1))

    #expect(found.value == [1])
    #expect(untouched.value == 0)
    #expect(store.subscriberCount == 0)
  }

  @MainActor
  @Test func `S14 on the main actor, no change of another thread is missed`() async {
    let store = Store(Counter(), reducer: addOrRename)
    let rounds = scaled(1_000)
    let heard = Shared(0)
    for _ in 0..<rounds {
      let goes = Gate()
      let once = Shared(false)
      async let change: Void = onQueue {
        goes.wait()
        store.send(.add(1))
      }
      withObservationTracking {
        _ = store.count
        goes.open()
        for _ in 0..<20 { _ = store.state }
      } onChange: {
        if !once.change({ old in
          defer { old = true }
          return old
        }) {
          heard.increment()
        }
      }
      await change
      await until { once.value }
    }

    #expect(heard.value == rounds)
  }

  @Test
  func `S15 releasing a store finishes its subscriptions, but keeps its publishers' last state`() {
    var store: Store? = Store(Counter(), reducer: addOrRename)
    weak let weakly = store
    let publisher = store?.publisher(of: \.count)
    let events = store.map { Recorder($0.events) }
    let values = publisher.map { Recorder($0) }
    let task = store?.send(.add(7))

    store = nil
    let late = publisher.map { Recorder($0) }

    #expect(weakly == nil)
    #expect(events?.hasEnded == true && values?.hasEnded == true)
    #expect(values?.updates == [0, 7])
    #expect(late?.updates == [7] && late?.hasEnded == true)
    #expect(publisher?.current() == 7)
    withExtendedLifetime(task) {}
  }

  @Test(arguments: ["callback", "publisher", "run", "handler"])
  func `S15 a store can be released inside its own callbacks, effects, and handlers`(
    _ way: String
  ) async {
    let box = Shared<Store<Int, Int>?>(nil)
    let values = Shared<[Int]>([])
    let token = {
      let store = Store(0) { (state: inout Int, action: Int) in
        state += action
        switch (way, action) {
        case ("publisher", 1):
          return .publisher {
            box.value = nil
            return PublishedValue.constant(5)
          }
        case ("run", 1):
          return .run { send in
            box.value = nil
            send(5)
          }
        case ("handler", 1):
          return .publisher {
            Broadcaster { receive in
              Subscription {
                withExtendedLifetime(receive) {}
                box.value = nil
              }
            }
          }
          .cancellable(id: 1)
        default: return .cancel(id: 1)
        }
      }
      box.value = store
      return store.publisher.subscribe { state in
        values.change { $0.append(state) }
        if state == 1, way == "callback" { box.value = nil }
      }
    }()

    box.value?.send(1)
    box.value?.send(2)

    await until { box.value == nil }
    await until { !token.isSubscribed }
    switch way {
    case "callback": #expect(values.value == [0, 1])
    case "publisher": #expect(values.value == [0, 1, 6])
    case "handler": #expect(values.value == [0, 1, 3])
    default: #expect(values.value.starts(with: [0, 1]))
    }
  }

  @Test(arguments: ["send", "run", "publisher", "sequence", "commit"])
  func `S15 a store released while it reduces ends after the reducer`(
    _ way: String
  ) async {
    let box = Shared<Store<Int, Int>?>(nil)
    let plain = Shared<Store<Int, Never>?>(nil)
    let source = BroadcastSource<Int>()
    let token: Subscription
    if way == "commit" {
      let store = Store<Int, Never>(0)
      plain.value = store
      token = store.events.subscribe { _ in }
    } else {
      let store = Store(0) { (state: inout Int, action: Int) in
        state += action
        if action == 1 {
          switch way {
          case "run": return .run { send in send(2) }
          case "publisher": return .publisher { source.publisher }
          case "sequence": return .concatenate(.publisher { source.publisher }, .send(2))
          default: break
          }
        }
        if action == 2 { box.value = nil }
        return .none
      }
      box.value = store
      token = store.events.subscribe { _ in }
    }

    switch way {
    case "commit":
      plain.value?.commit {
        $0 = 1
        plain.value = nil
      }
    case "send": box.value?.send(2)
    default: box.value?.send(1)
    }
    if way == "publisher" { source.broadcast(2) }
    if way == "sequence" { source.end() }

    await until { !token.isSubscribed }
    #expect(box.value == nil && plain.value == nil)
  }
}

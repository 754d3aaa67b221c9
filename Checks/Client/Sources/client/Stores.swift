import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting

struct Lamp: Sendable, Equatable {
  var isOn = false
  var clicks = 0
  var bulb: Promise<Int, Unlucky> = .idle
}

enum LampAction: Sendable, Equatable {
  case click, load
  case loaded(Int)
  case fail, wait, stop
}

let lamp: Reducer<Lamp, LampAction> = { state, action in
  switch action {
  case .click:
    state.isOn.toggle()
    state.clicks += 1
    return .none
  case .load:
    guard state.bulb.begin() else { return .none }
    return .concatenate(.merge(.none), .merge([]), .run { send in send(.loaded(60)) })
  case .loaded(let watts):
    state.bulb.resolve(.success(watts))
    return .concatenate([.send(.click)])
  case .fail: return .run { _ in throw Unlucky() }
  case .wait:
    let never: Effect<Int> = .publisher { Broadcaster<Int>.never }
    return never.map { .loaded($0) }.cancellable(id: "wait", cancelInFlight: true)
  case .stop: return .cancel(id: "wait")
  }
}

func stores() async throws {
  let store = Store(
    Lamp(), first: .click, name: "lamp", instrument: nil, fileID: #fileID, line: #line,
    reducer: lamp)
  expect(store.isOn && store.state.clicks == 1 && store.publisher.current() == store.state)
  let events = Recorder(store.events)
  let watts = Recorder(store.publisher(of: \.bulb))
  let task: StoreTask = store.send(.load)
  let result = Recorder(task.publisher)
  try await task.finished()
  // The thread that has finished it may still be on its way to those who are subscribed.
  _ = await result.next()
  expect(task.isFinished && result.updates.count == 1)
  expect(watts.updates == [.idle, .pending, .fulfilled(60)])
  expect(store.bulb.value == 60 && store.bulb.error == nil && store.bulb.isResolved)
  expect(!store.bulb.isIdle && !store.bulb.isPending && store.bulb.result == .success(60))
  expect(events.updates.compactMap { $0.action } == [.load, .loaded(60), .click])
  let commit: Commit<Lamp, LampAction>? = events.updates.first?.commit
  expect(commit?.number == 2 && commit?.state.clicks == 1)
  if case .action(let action)? = commit?.cause { expect(action == .load) }

  store.send(.wait)
  expect(store.effectCount == 1 && store.pendingUpdates == 0 && store.subscriberCount >= 2)
  store.send(.stop)
  store.send(.wait).cancel()
  let failed = store.send(.fail)
  do {
    try await failed.finished()
    expect(false)
  } catch {
    expect(error as? Unlucky == Unlucky())
  }
  for event in events.updates { expect(!event.description.isEmpty && told(event)) }
  let rejected = Promise<Int, Unlucky>.rejected(Unlucky())
  expect(rejected.error == Unlucky() && rejected != .idle && rejected == rejected)

  let plain = Store(Lamp(), name: "plain", instrument: nil, fileID: #fileID, line: #line)
  let causes = Recorder(plain.events.compactMap { $0.commit?.cause })
  plain.isOn = true
  plain.commit("twice") { $0.clicks += 2 }
  expect(causes.updates.map(\.description) == ["\\Lamp.isOn", "twice"])
  for cause in causes.updates { expect(isChange(cause)) }
}

func undo() {
  let store = Store(Lamp())
  let history = History(of: store, limit: 10) { $0.number > 0 }
  let ways = [Recorder(history.canUndo), Recorder(history.canRedo)]
  store.clicks = 1
  expect(history.undo() && store.clicks == 0 && history.redo() && store.clicks == 1)
  expect(ways.map(\.updates) == [[false, true, false, true], [false, true, false]])
}

func isChange(_ cause: CommitCause<Never>) -> Bool {
  switch cause {
  case .change(let name): name == "twice"
  case .assignment: true
  case .restored, .whole, .action: false
  }
}

func told(_ event: StoreEvent<Lamp, LampAction>) -> Bool {
  switch event {
  case .committed(let commit): commit.number > 0
  case .began(let run): isNamed(run)
  case .ended(let run, let end, let duration):
    !end.description.isEmpty && !run.description.isEmpty && run.hashValue == run.hashValue
      && run.commit > 0 && run == run && duration >= .zero && isKnown(end)
  }
}

func isNamed(_ run: EffectRun) -> Bool {
  run.id == run.number && (run.name ?? "wait") == "wait"
}

func isKnown(_ end: EffectEnd) -> Bool {
  switch end {
  case .finished, .cancelled, .failed: true
  }
}

func storeTests() async throws {
  try await withTestStore(Lamp(), within: .seconds(10), reducer: lamp) {
    (store: TestStore<Lamp, LampAction>) in
    try store.send(.load) { $0.bulb = .pending }
    try await store.receive(.loaded(60)) { $0.bulb = .fulfilled(60) }
    try await store.receive(where: { $0 == .click }) {
      $0.isOn = true
      $0.clicks = 1
    }
    try store.send(.wait)
    store.skipReceived()
    store.cancelEffects()
    expect(store.state.clicks == 1)
    do {
      try store.send(.click)
      expect(false)
    } catch let failure as TestStoreFailure {
      expect(failure.description.contains("clicks"))
    }
  }
}

import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// A search that runs until it is canceled, and notes its start.
private func search(
  _ name: String, _ started: Shared<[String]>, cancelInFlight: Bool = true
) -> Effect<YardAction> {
  .publisher {
    started.change { $0.append(name) }
    return Broadcaster.never
  }
  .cancellable(id: "search", cancelInFlight: cancelInFlight)
}

/// Returns immediately, even if the task has not finished.
private func isCanceled(_ task: StoreTask) async -> Bool {
  if !task.isFinished { return false }
  do {
    try await task.finished()
    return false
  } catch {
    return error is CancellationError
  }
}

private func returning(_ effect: Effect<YardAction>) -> YardAction { .run { _ in effect } }

extension StoreContractTests {
  @Test(arguments: [true, false])
  func `S24 a waiting search cancels no newer search`(newerCancels: Bool) async {
    let forms: [@Sendable (Effect<YardAction>) -> Effect<YardAction>] = [
      { $0 }, { .merge(.none, $0) }, { $0.map { $0 } }, { $0.cancellable(id: "outer") },
      { Effect.concatenate(.none, $0).cancellable(id: "outer") },
      { .concatenate(.merge(.concatenate($0).map { $0 }, .none)) },
    ]
    for form in forms {
      let store = yardStore()
      let gate = BroadcastSource<Int>()
      let started = Shared<[String]>([])
      let old = store.send(
        returning(.concatenate(waiting(gate), form(search("old", started)))))
      store.send(returning(search("new", started, cancelInFlight: newerCancels)))

      gate.end()

      if newerCancels {
        #expect(started.value == ["new"] && store.effectCount == 1)
        #expect(await isCanceled(old))
      } else {
        #expect(started.value == ["new", "old"] && store.effectCount == 2)
      }
      store.send(returning(.cancel(id: "search")))
      #expect(store.effectCount == 0 && store.hasForgottenEffects)
    }
  }

  @Test func `S24 a waiting search cancels an older search when it starts`() {
    let store = yardStore()
    let gate = BroadcastSource<Int>()
    let started = Shared<[String]>([])
    let older = store.send(returning(search("older", started)))
    store.send(
      returning(
        .concatenate(
          waiting(gate), search("waiting", started), search("never", started))))
    #expect(!older.isFinished)

    gate.end()

    #expect(older.isFinished)
    #expect(started.value == ["older", "waiting"] && store.effectCount == 1)
  }

  @Test func `S24 a waiting cancel spares the effects of later sends`() {
    let store = yardStore()
    let (gate, first) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let started = Shared<[String]>([])
    store.send(
      returning(
        .concatenate(
          .send(returning(search("spinner", started))), waiting(gate), .cancel(id: "search"),
          search("after", started), waiting(first))))
    store.send(returning(search("later", started, cancelInFlight: false)))
    #expect(store.effectCount == 3)

    gate.end()

    #expect(started.value == ["spinner", "later", "after"])
    #expect(store.effectCount == 2)
  }

  @Test func `S25 a cancel that an earlier member sends does not reach the members behind it`() {
    let started = Shared<[String]>([])
    let cancel: Effect<YardAction> = .send(returning(.cancel(id: "search")))
    let store = yardStore()
    store.send(
      returning(.concatenate(cancel, .merge(.concatenate(search("behind", started)), .none))))
    #expect(started.value == ["behind"] && store.effectCount == 1)

    let (first, second) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    store.send(
      returning(
        .merge(
          .concatenate(waiting(first), search("beside", started)),
          .concatenate(waiting(second), cancel))))
    second.end()
    first.end()
    #expect(started.value == ["behind"] && store.effectCount == 0)
    #expect(store.hasForgottenEffects)
  }

  @Test(arguments: WaitingEffect.Work.allCases)
  func `S25 a cancel reaches a waiting member, which then never runs`(work: WaitingEffect.Work)
    async
  {
    for form in WaitingEffect.Form.allCases {
      let store = yardStore()
      let effect = WaitingEffect(work: work, form: form)
      let action: @Sendable (String) -> YardAction = { word in
        .run { state in
          state.words.append(word)
          return .none
        }
      }
      let after = Shared(0)
      let task = store.send(
        returning(
          .concatenate(
            effect.made(action),
            .publisher {
              after.increment()
              return Broadcaster.never
            })))
      let events = Recorder(store.events.filter { $0.commit == nil })
      let id = form == .named || form == .nested ? "outer" : "id"

      store.send(returning(.cancel(id: id)))
      #expect(!task.isFinished && store.effectCount == 1)
      effect.gate.end()

      #expect(await isCanceled(task))
      #expect(store.state.words == [] && effect.started.value == 0 && after.value == 0)
      #expect(events.updates.count == 1)
      #expect(store.hasForgottenEffects)
    }
  }

  @Test(arguments: WaitingEffect.Work.allCases)
  func `S20 a waiting effect of a removed child does not run for its successor`(
    work: WaitingEffect.Work
  ) async {
    for (child, form) in YardChild.allCases.flatMap({ child in
      WaitingEffect.Form.allCases.map { (child, $0) }
    }) {
      let store = yardStore()
      store.send(
        .run { state in
          child.add(to: &state)
          return .none
        })
      let effect = WaitingEffect(work: work, form: form)
      let task = store.send(child.action(effect))
      store.send(
        .run { state in
          child.remove(from: &state)
          return .none
        })
      store.send(
        .run { state in
          child.add(to: &state)
          return .none
        })

      effect.gate.end()

      #expect(await isCanceled(task))
      #expect(child.words(in: store.state) == [] && effect.started.value == 0, "\(child) \(form)")
      #expect(store.hasForgottenEffects && store.hasForgottenScopes)
    }
  }

  @Test(arguments: YardChild.allCases)
  func `S19 a waiting effect of a child that an undo removed does not run`(child: YardChild)
    async
  {
    let store = yardStore()
    let history = History(of: store)
    store.send(
      .run { state in
        child.add(to: &state)
        return .none
      })
    let effect = WaitingEffect(work: .send, isGated: false)
    let task = store.send(.behind(effect.gate, child.action(effect)))
    history.undo()
    history.undo()
    history.redo()

    effect.gate.end()

    #expect(await isCanceled(task))
    #expect(child.words(in: store.state) == [])
  }

  @Test(arguments: YardChild.allCases)
  func `S20 a waiting effect of a present child runs, and cancels its own ids only`(
    child: YardChild
  ) async throws {
    let store = yardStore()
    store.send(
      .run { state in
        child.add(to: &state)
        return .none
      })
    let started = Shared<[String]>([])
    let other = store.send(returning(search("of the parent", started)))
    let effect = WaitingEffect(work: .run, id: "search", cancelInFlight: true, isGated: false)
    let task = store.send(.behind(effect.gate, child.action(effect)))

    effect.gate.end()
    try await task.finished()

    #expect(child.words(in: store.state) == ["sent"] && !other.isFinished)
  }

  @Test func `S23 a failure releases the waiting members`() async {
    struct Oops: Error {}
    let store = yardStore()
    weak var kept: Nosy?
    func send() -> StoreTask {
      let object = Nosy(1)
      kept = object
      return store.send(
        returning(
          .concatenate(
            .run { _ in throw Oops() }, .run { _ in _ = object.number },
            .merge(.concatenate(.run { _ in _ = object.number }).cancellable(id: 1), .none))))
    }

    await #expect(throws: Oops.self) { try await send().finished() }

    await until { kept == nil }
    #expect(store.hasForgottenEffects)
  }

  @Test func `S31 the release of the store releases waiting members`() {
    var store: Store? = yardStore()
    weak var kept: Nosy?
    let gate = BroadcastSource<Int>()
    func send() -> StoreTask? {
      let object = Nosy(1)
      kept = object
      return store?.send(
        returning(
          .concatenate(
            waiting(gate), .run { _ in _ = object.number },
            Effect.concatenate(.run { _ in _ = object.number }).cancellable(id: 1))))
    }
    let task = send()
    #expect(kept != nil)

    store = nil

    #expect(kept == nil)
    #expect(task?.isFinished == true)
  }

  @Test func `S23 waiting sequences nested 10,000 deep fit a 512 KiB stack`() {
    let finished = Shared(0)
    onThread(stackSize: 512 << 10) {
      for isCanceled in [true, false] {
        let store = yardStore()
        let gate = BroadcastSource<Int>()
        var all: Effect<YardAction> = .send(
          .run { state in
            state.words.append("deep")
            return .none
          })
        for _ in 0..<overflowingDepth { all = .merge(.concatenate(all, .none)) }
        all = all.cancellable(id: 1)
        let task = store.send(returning(.concatenate(waiting(gate), all)))
        all = .none
        if isCanceled { store.send(returning(.cancel(id: 1))) }
        gate.end()
        if task.isFinished && store.state.words.isEmpty == isCanceled { finished.increment() }
      }
    }
    #expect(finished.value == 2)
  }
}

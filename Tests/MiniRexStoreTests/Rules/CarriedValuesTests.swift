import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private enum Request {
  @TaskLocal static var id = 0
}

/// An action of one of several senders.
private struct CarriedNote: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case plain, run, sequence, publisher, answer
  }

  let sender: Int
  let number: Int
  let kind: Kind
}

@Suite(.light) struct CarriedValuesTests {
  private let wrong = Shared(0)
  private let answers = Shared(0)

  @Sendable private func look(_ note: CarriedNote) {
    if Request.id != note.sender { wrong.increment() }
  }

  private func makeStore() -> Store<CarriedNote?, CarriedNote> {
    Store(nil) { [self] (state: inout CarriedNote?, note: CarriedNote) in
      state = note
      let answer = CarriedNote(sender: note.sender, number: note.number, kind: .answer)
      let work: @Sendable (@escaping @Sendable (CarriedNote) -> Void) async throws -> Void = {
        send in
        look(note)
        send(answer)
      }
      switch note.kind {
      case .plain: return .none
      case .run: return .run(work)
      case .sequence: return .concatenate(.run { _ in await Task.yield() }, .run(work))
      case .publisher:
        return .publisher {
          look(note)
          return Broadcaster.sequence([answer])
        }
      case .answer:
        answers.increment()
        look(note)
        return .none
      }
    }
  }

  @Test func `R44 commits and effects have the carried values of the sender of their action`() async
  {
    await withCarried(Request.$id) {
      let store = makeStore()
      let subscriptions = [
        store.publisher(of: \.self).subscribe { [self] note in if let note { look(note) } },
        store.events.subscribe { [self] event in
          if let note = event.action { look(note) }
        },
      ]
      let count = scaled(300)
      onThreads(8) { thread in
        Request.$id.withValue(thread + 1) {
          for number in 0..<count {
            let kind: [CarriedNote.Kind] = [.plain, .run, .sequence, .publisher]
            store.send(CarriedNote(sender: thread + 1, number: number, kind: kind[number % 4]))
          }
        }
      }
      let expected = 8 * (0..<count).count { $0 % 4 != 0 }
      await until { answers.value == expected }

      #expect(wrong.value == 0)
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test func `R44 a job that a timer begins has no values of the sender that set the timer`() async
  {
    await withCarried(Request.$id) {
      let time = TestTime()
      let store = Store(Shop(), reducer: selling)
      let working = store.perform(
        \.charges, ShopAction.charges, atMost: 1, clock: SleepingClock(manual: time.clock),
        now: { time.now }
      ) { charge, _ in .charged(charge.id) }
      let seen = Shared<[Int]>([])
      let subscription = store.events.subscribe { event in
        if case .charges(.began) = event.action { seen.append(Request.id) }
      }

      Request.$id.withValue(7) {
        store.send(.ordered(Charge(id: 1), notBefore: time.after(.seconds(1))))
      }
      await until { time.clock.sleeperCount == 1 }
      time.advance(by: .seconds(1))
      await until { store.state.receipts == [1] }

      #expect(seen.value == [0])
      withExtendedLifetime((working, subscription)) {}
    }
  }
}

import MiniRex
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct TurnstileTests {
  @Test func `who enters first delivers, and hears of those who come meanwhile`() {
    let turnstile = Turnstile()

    let entries = [turnstile.enter(), turnstile.enter()]
    _ = turnstile.call()
    let leaving = turnstile.leave()
    turnstile.rest()
    let again = [turnstile.enter(), turnstile.leave(), turnstile.enter()]

    #expect(entries == [true, false])
    #expect(!leaving)
    #expect(again == [true, true, true])
  }

  @Test func `nobody can be called when nobody delivers`() {
    let turnstile = Turnstile()

    let before = turnstile.call().isHeard
    let hasEntered = turnstile.enter()
    let during = [turnstile.call().isHeard, turnstile.call().isHeard, turnstile.leave()]
    turnstile.rest()
    let after = turnstile.call().isHeard

    #expect(!before)
    #expect(hasEntered)
    #expect(during == [true, true, false])
    #expect(!after)
  }

  @Test func `an answer that expects more has the deliverer look again`() {
    let turnstile = Turnstile()
    _ = turnstile.enter()
    _ = turnstile.call()

    turnstile.answer(expectingMore: true)
    let early = turnstile.leave()
    turnstile.answer(expectingMore: false)
    let late = turnstile.leave()

    #expect(!early)
    #expect(late)
    let phase = turnstile.phase.load(ordering: .relaxed)
    #expect(phase == Turnstile.resting)
  }

  @Test func `a deliverer who has left is not called`() {
    let turnstile = Turnstile()

    let answers = [
      turnstile.enter(), turnstile.leave(), turnstile.call().isHeard, turnstile.enter(),
    ]

    #expect(answers == [true, true, false, true])
  }

  @Test func `whoever enters without the lock is made known by the call, once`() {
    let turnstile = Turnstile(isOpen: true)
    let (me, other) = (ThreadID(rawValue: 8), ThreadID(rawValue: 16))

    let entries = [turnstile.enter(as: me), turnstile.enter(as: other), turnstile.enter()]
    let calls = [turnstile.call().deliverer, turnstile.call().deliverer]
    let leavings = [turnstile.leave(as: other), turnstile.leave(as: me)]
    turnstile.rest()
    let again = [turnstile.enter(as: other), turnstile.leave(as: other)]

    #expect(entries == [true, false, false])
    #expect(calls == [me, nil])
    #expect(leavings == [false, false])
    #expect(again == [true, true])
  }

  @Test func `nobody enters while deliverers are kept out`() {
    let turnstile = Turnstile(isOpen: true)
    let me = ThreadID(rawValue: 8)

    let closings = [turnstile.close(), turnstile.close()]
    let entries = [turnstile.enter(as: me), turnstile.enter()]
    turnstile.rest()
    let later = turnstile.enter(as: me)

    #expect(closings == [true, false])
    #expect(entries == [false, false])
    #expect(later)
    let lateClosing = turnstile.close()
    #expect(!lateClosing)
  }
}

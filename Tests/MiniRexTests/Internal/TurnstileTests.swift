import MiniRex
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct TurnstileTests {
  @Test func `who enters first delivers, and hears of those who come meanwhile`() {
    let turnstile = Turnstile()

    let entries = [turnstile.enter(), turnstile.enter()]
    let leaving = turnstile.leave()
    turnstile.rest()
    let again = [turnstile.enter(), turnstile.leave(), turnstile.enter()]

    #expect(entries == [true, false])
    #expect(!leaving)
    #expect(again == [true, true, true])
  }

  @Test func `nobody can be called when nobody delivers`() {
    let turnstile = Turnstile()

    let before = turnstile.call()
    let during = [turnstile.enter(), turnstile.call(), turnstile.call(), turnstile.leave()]
    turnstile.rest()
    let after = turnstile.call()

    #expect(!before)
    #expect(during == [true, true, true, false])
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

    let answers = [turnstile.enter(), turnstile.leave(), turnstile.call(), turnstile.enter()]

    #expect(answers == [true, true, false, true])
  }
}

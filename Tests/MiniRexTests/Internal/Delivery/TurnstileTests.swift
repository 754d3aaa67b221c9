import MiniRex
import Synchronization
import TestSupport
import Testing

@Suite(.light) struct TurnstileTests {
  @Test func `the first thread to enter delivers and is signaled by later threads`() {
    let turnstile = Turnstile()

    let entries = [turnstile.enter(), turnstile.enter()]
    _ = turnstile.signal()
    let leaving = turnstile.leave()
    turnstile.rest()
    let again = [turnstile.enter(), turnstile.leave(), turnstile.enter()]

    #expect(entries == [true, false])
    #expect(!leaving)
    #expect(again == [true, true, true])
  }

  @Test func `a signal without a delivering thread has no recipient`() {
    let turnstile = Turnstile()

    let before = turnstile.signal().hasDeliverer
    let hasEntered = turnstile.enter()
    let during = [
      turnstile.signal().hasDeliverer, turnstile.signal().hasDeliverer, turnstile.leave(),
    ]
    turnstile.rest()
    let after = turnstile.signal().hasDeliverer

    #expect(!before)
    #expect(hasEntered)
    #expect(during == [true, true, false])
    #expect(!after)
  }

  @Test func `acknowledging with more expected makes the delivering thread look again`() {
    let turnstile = Turnstile()
    _ = turnstile.enter()
    _ = turnstile.signal()

    turnstile.acknowledge(expectingMore: true)
    let early = turnstile.leave()
    turnstile.acknowledge(expectingMore: false)
    let late = turnstile.leave()

    #expect(!early)
    #expect(late)
    let phase = turnstile.phase.load(ordering: .relaxed)
    #expect(phase == Turnstile.resting)
  }

  @Test func `a thread is not signaled after its delivery has ended`() {
    let turnstile = Turnstile()

    let answers = [
      turnstile.enter(), turnstile.leave(), turnstile.signal().hasDeliverer, turnstile.enter(),
    ]

    #expect(answers == [true, true, false, true])
  }

  @Test func `a signal identifies a thread that entered without the lock, once`() {
    let turnstile = Turnstile(isOpen: true)
    let (me, other) = (ThreadID(rawValue: 8), ThreadID(rawValue: 16))

    let entries = [turnstile.enter(as: me), turnstile.enter(as: other), turnstile.enter()]
    let calls = [turnstile.signal().deliverer, turnstile.signal().deliverer]
    let leavings = [turnstile.leave(as: other), turnstile.leave(as: me)]
    turnstile.rest()
    let again = [turnstile.enter(as: other), turnstile.leave(as: other)]

    #expect(entries == [true, false, false])
    #expect(calls == [me, nil])
    #expect(leavings == [false, false])
    #expect(again == [true, true])
  }

  @Test func `no thread enters a closed turnstile`() {
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

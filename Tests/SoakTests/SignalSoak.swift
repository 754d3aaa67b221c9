import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

extension Soaks {
  /// The system may merge several signals of one kind, but each subscriber receives at least one.
  @Test func `signals under load`() async throws {
    let number = SIGUSR1
    let constant = Recorder(DispatchSource.signals(number, SIGUSR2)) { _ in }
    let load = Shared(true)
    let threads = DispatchGroup()
    for _ in 0..<2 {
      threads.enter()
      Thread.detachNewThread {
        var sum = 0
        while load.value { for term in 0..<1_000 { sum &+= term } }
        withExtendedLifetime(sum) { threads.leave() }
      }
    }

    try await Soak.run(20_000, atATime: 4) { round in
      let number = Bool.random(using: &round.random) ? SIGUSR1 : SIGUSR2
      let own = Recorder(DispatchSource.signals(number))
      kill(getpid(), number)
      #expect(await own.next() == [number])
    }

    load.value = false
    await onQueue { threads.wait() }
    #expect(constant.isSubscribed && Set(constant.updates) == [SIGUSR1, SIGUSR2])
  }
}

import Foundation
import TestSupport
import Testing

@testable import MiniRexPageServer

@Suite(.light) struct PollerTests {
  @Test func `a wait in a canceled task returns immediately`() async throws {
    let poller = try #require(Poller())
    let (near, far) = try #require(Socket.pair())
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await poller.wait(for: near, POLLIN)
    }
    task.cancel()
    #expect(await task.finished() == .canceled)
    withExtendedLifetime(far) {}
  }

  @Test func `a wait returns at its deadline when other deadlines are later`() async throws {
    let poller = try #require(Poller())
    let (near, far) = try #require(Socket.pair())
    let start = ContinuousClock.now
    let late = Task { await poller.wait(for: near, POLLIN, until: start + .seconds(600)) }
    let never = Task { await poller.wait(for: near, POLLIN) }

    #expect(await poller.wait(for: near, POLLIN, until: start + .milliseconds(50)) == .timedOut)
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    #expect(await poller.wait(for: near, POLLIN, until: start) == .timedOut)
    #expect(await poller.wait(for: near, POLLOUT, until: .now + .seconds(600)) == .ready)
    #expect(far.send([1]) == 1)
    #expect(await late.finished() == .ready)
    #expect(await never.finished() == .ready)
  }

  @Test func `a wait that is added during a poll returns when its socket is readable`()
    async throws
  {
    let poller = try #require(Poller())
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          guard let (near, far) = Socket.pair() else { return }
          for _ in 0..<2_000 {
            async let outcome = poller.wait(for: near, POLLIN)
            _ = far.send([1])
            #expect(await outcome == .ready)
            _ = near.receive()
          }
        }
      }
    }
  }

  @Test func `each wait returns once when cancellations and bytes race`() async throws {
    let poller = try #require(Poller())
    for _ in 0..<2_000 {
      let (near, far) = try #require(Socket.pair())
      let task = Task { await poller.wait(for: near, POLLIN) }
      async let sent = far.send([1])
      task.cancel()
      let outcome = await task.finished()
      #expect(outcome == .canceled || outcome == .ready)
      #expect(await sent == 1)
    }
  }
}

#if os(Linux) || os(macOS)
  import Foundation
  import MiniRex
  import MiniRexFoundationAdapters
  import TestSupport
  import Testing

  extension Soaks {
    @Test func `processes one after the other`() async throws {
      try await Soak.run(20_000) { try await expectEcho($0.number) }
    }

    @Test func `processes eight at a time`() async throws {
      try await Soak.run(20_000, atATime: 8) { try await expectEcho($0.number) }
    }

    @Test func `processes left within 2 ms of their start`() async throws {
      try await Soak.run(20_000, atATime: 8) { round in
        let sleep = Process.task(URL(fileURLWithPath: "/bin/sleep"), ["1000"])
        let subscription = sleep.subscribe { _ in }
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<2_000, using: &round.random)))
        await subscription.invalidateAndDrain()
      }

      // Nothing is running that somebody has to end, and nothing dead that somebody has to reap.
      #expect(waitpid(-1, nil, WNOHANG) == -1)
    }
  }

  private func expectEcho(_ number: Int) async throws {
    let lines = Shared<[ProcessLine]>([])
    let echo = Process.task(URL(fileURLWithPath: "/bin/echo"), [String(number)])
    let subscription = echo.subscribe(
      success: nil, failure: nil, progress: { line in lines.change { $0.append(line) } })
    #expect(try await echo.value == .code(0))
    #expect(lines.value == [.output(String(number))])
    await subscription.invalidateAndDrain()
  }
#endif

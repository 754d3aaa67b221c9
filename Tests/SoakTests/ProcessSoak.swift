#if os(Linux) || os(macOS)
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import TestSupport
import Testing

extension Soaks {
  @Test func `processes in sequence`() async throws {
    try await Soak.run(20_000) { try await expectEcho($0.number) }
  }

  @Test func `eight processes at a time`() async throws {
    try await Soak.run(20_000, atATime: 8) { try await expectEcho($0.number) }
  }

  @Test func `processes canceled within 2 ms of their start`() async throws {
    try await Soak.run(20_000, atATime: 8) { round in
      let sleep = Process.task(URL(fileURLWithPath: "/bin/sleep"), ["1000"])
      let subscription = sleep.subscribe { _ in }
      try await Task.sleep(for: .microseconds(Int.random(in: 0..<2_000, using: &round.random)))
      await subscription.invalidateAndWait()
    }

    // No child process is running or waiting to be reaped.
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
  await subscription.invalidateAndWait()
}
#endif

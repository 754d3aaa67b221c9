import Foundation
import TestSupport
import Testing

@Suite(.light) struct AdmissionTests {
  @Test func `slots are taken in the order of the requests`() async {
    let slots = Slots(2)
    let order = Shared<[Int]>([])
    let gates = (0..<4).map { _ in Shared(false) }
    let hasBegun = (0..<4).map { _ in Shared(false) }
    var tasks: [Task<Void, Never>] = []
    for (index, count) in [1, 2, 1, 5].enumerated() {
      tasks.append(
        Task {
          hasBegun[index].value = true
          await slots.hold(count) {
            order.append(index)
            await until { gates[index].value }
          }
        })
      await until { hasBegun[index].value }
      await Task.yield()
      if index == 0 { await until { order.value == [0] } }
    }
    #expect(order.value == [0], "the third has to wait behind the second, which needs both slots")
    for index in 0..<4 {
      await until(order.value) { $0.last == index }
      gates[index].value = true
      await tasks[index].value
    }
    #expect(order.value == [0, 1, 2, 3])
  }

  @Test func `a test beyond its limit is canceled and has an issue`() async throws {
    let line = #line + 2
    try await withKnownIssue {
      try await limited(to: .milliseconds(300), "slow") {
        try? await Task.sleep(for: .seconds(600))
      }
    } matching: {
      $0.sourceLocation?.line == line
        && $0.comments.contains { $0.rawValue.contains("exceeded its limit") }
    }
  }

  @Test func `a test within its limit has no issue`() async throws {
    try await limited(to: .seconds(60), "quick") {}
    await #expect(throws: CancellationError.self) {
      try await limited(to: .seconds(60), "quick") { throw CancellationError() }
    }
  }

  @Test func `a test that blocks its thread beyond its limit ends the process`() async {
    let result = await #expect(
      processExitsWith: .exitCode(1), observing: [\.standardErrorContent]
    ) {
      await withKnownIssue {
        try await limited(to: .milliseconds(100), grace: .milliseconds(100), "blocking") {
          while true { _ = sleep(60) }
        }
      }
    }
    #expect(advice(result).contains("'blocking' continues after its limit, so the process ends."))
  }

  @Test func `a condition that remains false is an issue at its line`() async {
    let line = #line + 2
    await withKnownIssue {
      await until(1 + 1, patience: 10) { $0 == 3 }
    } matching: {
      $0.sourceLocation?.line == line
        && $0.comments.contains { $0.rawValue.hasSuffix("The last value is 2.") }
    }
  }

  @Test func `a program that prints nothing is an issue at the line of the wait`() async throws {
    let child = try Child(["60"], path: "/bin/sleep")
    let line = #line + 2
    await withKnownIssue {
      await child.output.until("ready", patience: 10)
    } matching: {
      $0.sourceLocation?.line == line
    }
    await withKnownIssue {
      #expect(await child.status(patience: 10) == nil)
    }
    child.send(9)
    #expect(await child.status() == -9)
    #expect(await child.output.rest() == [])
  }
}

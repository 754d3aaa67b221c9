import Foundation
import TestSupport
import Testing

@Suite(.light) struct AdmissionTests {
  @Test func `slots are taken by light tests first, and in the order of the requests`() async {
    let slots = Slots(2)
    let order = Shared<[Int]>([])
    let gates = (0..<5).map { _ in Shared(false) }
    var tasks: [Task<Void, Never>] = []
    for (index, count) in [2, 2, 5, 1, 1].enumerated() {
      tasks.append(
        Task {
          await slots.hold(count) {
            order.append(index)
            await until { gates[index].value }
          }
        })
      if index == 0 {
        await until { order.value == [0] }
      } else {
        await until(slots.waiterCount) { $0 == index }
      }
    }
    #expect(order.value == [0], "both slots are taken")
    gates[0].value = true
    await until(order.value.count) { $0 == 3 }
    #expect(Set(order.value) == [0, 3, 4], "two tests that need one slot each")
    gates[3].value = true
    await tasks[3].finished()
    #expect(order.value.count == 3, "one slot is not enough for the second")
    for index in [4, 1] { gates[index].value = true }
    await until(order.value) { $0.last == 2 }
    #expect(order.value.suffix(2) == [1, 2])
    gates[2].value = true
    for task in tasks { await task.finished() }
  }

  @Test func `a task that does not finish is an issue at the line of the wait, and is canceled`()
    async
  {
    let isCanceled = Shared(false)
    let task = Task {
      try? await Task.sleep(for: .seconds(600))
      isCanceled.value = Task.isCancelled
    }
    let line = #line + 2
    await withKnownIssue {
      await task.finished(patience: 10)
    } matching: {
      $0.sourceLocation?.line == line
    }
    #expect(isCanceled.value)
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

import MiniRex
import MiniRexStore
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

private struct Broken: Error, CustomStringConvertible {
  /// Released after the advice about the error is printed.
  private let token = Token()
  private static let tokens = Shared<[WeakToken]>([])

  init() {
    let token = token
    Broken.tokens.change { $0.append(WeakToken(token: token)) }
  }

  var description: String { "Broken()" }

  /// Returns `true` if this process has thrown at least this many errors and released all.
  static func areReleased(atLeast count: Int) -> Bool {
    tokens.value.count >= count && tokens.value.allSatisfy { $0.token == nil }
  }
}

private final class Token: Sendable {}

private struct WeakToken: Sendable {
  weak let token: Token?
}

private func failing() -> Store<Int, Int> {
  Store(0, name: "counter", fileID: "App/Main.swift", line: 3) { _, _ in
    .run { _ in throw Broken() }
  }
}

/// Lets four effects fail: one is awaited, one is watched, one is a publisher, and one was canceled.
private func failForReceivers() async {
  let awaited = failing()
  try? await awaited.send(1).finished()
  let watched = failing()
  let subscription = watched.events.subscribe { _ in }
  watched.send(1)
  await until { watched.effectCount == 0 }
  withExtendedLifetime(subscription) {}
  let subscribed = failing()
  let task = subscribed.send(1).publisher
  _ = await task.result
  let canceled: Store<Int, Int> = Store(0) { _, _ in
    .run { _ in
      try? await Task.sleep(for: .seconds(600))
      throw Broken()
    }
  }
  let run = canceled.send(1)
  await until { canceled.effectCount == 1 }
  run.cancel()
  await until { canceled.effectCount == 0 }
}

/// Returns the lines of a process about failed effects.
private func lines(_ result: ExitTest.Result?) -> [Substring] {
  String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
    .filter { $0.contains("failed with") }
}

extension StoreContractTests {
  @Test func `an error of an effect that nobody receives is printed in a debug build`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      let store = failing()
      store.send(1)
      await until { Broken.areReleased(atLeast: 1) }
    }
    #if DEBUG
    #expect(lines(result).count == 1)
    #expect(
      lines(result).first?.hasPrefix(
        "MiniRex: 'effect 1' of Store<Int, Int>, created at App/Main.swift:3, failed with Broken()."
      ) == true)
    #else
    #expect(lines(result).isEmpty)
    #endif
  }

  @Test func `an error that a task or a subscriber of events receives is not printed`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      await failForReceivers()
      // The canceled effect may never have started.
      await until { Broken.areReleased(atLeast: 3) }
    }
    #expect(lines(result).isEmpty)
  }

  @Test func `S41 a failed effect is an event of the instrument and a number in the graph`() async {
    let (graph, failures) = (LiveGraph(), Shared<[InstrumentEvent]>([]))
    let instrument = Failures(graph: graph, failures: failures)
    let store = Store(0, name: "counter", instrument: instrument) { (_, _: Int) in
      .run { _ in throw Broken() }
    }

    _ = try? await store.send(1).finished()
    await until { !failures.value.isEmpty }

    #expect(failures.value.map(\.kind) == [.failed("Broken()")])
    #expect(failures.value.first?.label == "counter")
    #expect(graph.snapshot().nodes.first?.failureCount == 1)
  }
}

private struct Failures: Instrument {
  let graph: LiveGraph?
  let failures: Shared<[InstrumentEvent]>

  func record(_ event: InstrumentEvent) {
    if case .failed = event.kind { failures.change { $0.append(event) } }
  }
}

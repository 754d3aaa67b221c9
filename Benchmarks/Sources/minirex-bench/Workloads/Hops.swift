import Foundation
import MiniRex

/// Updates dispatched to an actor, compared with a Swift task per update.
extension Suite {
  func hops() {
    bench("hop-actor", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let tally = Tally()
      let token = source.publisher.subscribe(isolatedTo: tally) { $0.add($1) }
      return { k in
        tally.awaitCalls(k) { for i in 0..<k { source.broadcast(i) } }
        withExtendedLifetime(token) {}
      }
    }
    bench("hop-actor", "bare") {
      let tally = Tally()
      return { k in
        tally.awaitCalls(k) {
          for i in 0..<k { Task { await tally.add(i) } }
        }
      }
    }
    bench("hop-main", "minirex") {
      let source = opaque(BroadcastSource<Int>())
      let tally = MainTally()
      let token = MainActor.assumeIsolated { source.publisher.subscribeOnMain { tally.add($0) } }
      return { k in
        tally.awaitCalls(k) { for i in 0..<k { source.broadcast(i) } }
        withExtendedLifetime(token) {}
      }
    }
    bench("hop-main", "bare") {
      let tally = MainTally()
      return { k in
        tally.awaitCalls(k) {
          for i in 0..<k { Task { @MainActor in tally.add(i) } }
        }
      }
    }
  }
}

private actor Tally {
  private var missing = 0
  private var sum = 0
  private var isDone: DispatchSemaphore?

  func add(_ update: Int) {
    sum &+= update
    missing -= 1
    if missing == 0 { isDone?.signal() }
  }

  private func expect(_ count: Int, _ isDone: DispatchSemaphore) {
    missing = count
    self.isDone = isDone
  }

  nonisolated func awaitCalls(_ count: Int, _ send: () -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    blocking { await self.expect(count, isDone) }
    send()
    isDone.wait()
  }
}

/// Unchecked: only the main thread uses its state.
private final class MainTally: @unchecked Sendable {
  private var missing = 0
  private var sum = 0

  func add(_ update: Int) {
    sum &+= update
    missing -= 1
  }

  /// Sends from another thread, while this main thread runs the dispatched calls.
  func awaitCalls(_ count: Int, _ send: @escaping () -> Void) {
    missing = count
    let thread = JoinedThread(send)
    while missing > 0 { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    thread.join()
  }
}

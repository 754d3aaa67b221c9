import Foundation
import MiniRex

/// Waits for all sockets of a server on one thread, so that a connection needs one descriptor.
final class Poller: Sendable {
  enum Outcome: Sendable {
    case ready, timedOut, canceled
  }

  private let waits: PollWaits

  /// Creates a poller, or returns `nil` with the reason in `errno`.
  init?() {
    guard let waits = PollWaits() else { return nil }
    self.waits = waits
    let thread = Thread { waits.run() }
    thread.stackSize = 1 << 18
    thread.start()
  }

  deinit { waits.end() }

  /// Suspends until the socket is readable or writable, or has failed.
  ///
  /// - Parameter events: `POLLIN` or `POLLOUT`.
  func wait(
    for socket: Socket, _ events: Int32, until deadline: ContinuousClock.Instant? = nil
  ) async -> Outcome {
    let id = waits.makeID()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waits.add(
          PollWait(
            socket: socket, events: Int16(events), deadline: deadline, continuation: continuation),
          id)
        // A cancellation before `add` found no wait to resume.
        if Task.isCancelled { waits.cancel(id) }
      }
    } onCancel: {
      waits.cancel(id)
    }
  }
}

private struct PollWait: Sendable {
  /// Retained, so that the system does not reuse the descriptor's number.
  let socket: Socket
  let events: Int16
  let deadline: ContinuousClock.Instant?
  let continuation: CheckedContinuation<Poller.Outcome, Never>
}

/// The pending waits.
///
/// The thread retains them until `end()`.
private final class PollWaits: Sendable {
  private struct State: Sendable {
    var waits: [Int: PollWait] = [:]
    var lastID = 0
    var hasEnded = false
    /// A Boolean value that indicates whether the byte that wakes the thread has been sent.
    var isWoken = false
  }

  private let state = Lock(State())
  private let (waking, woken): (Socket, Socket)

  init?() {
    guard let pair = Socket.pair() else { return nil }
    (waking, woken) = pair
  }

  func makeID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  func add(_ wait: PollWait, _ id: Int) {
    wake { $0.waits[id] = wait }
  }

  func end() {
    wake { $0.hasEnded = true }
  }

  func cancel(_ id: Int) {
    // The thread's copy of the wait keeps the socket open until `poll` returns.
    let wait = wake { $0.waits.removeValue(forKey: id) }
    wait?.continuation.resume(returning: .canceled)
  }

  private func wake<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    let (result, isWoken) = state.withLock { state in
      defer { state.isWoken = true }
      return (change(&state), state.isWoken)
    }
    if !isWoken { _ = waking.send([0]) }
    return result
  }

  func run() {
    while true {
      let (waits, hasEnded) = state.withLock { ($0.waits, $0.hasEnded) }
      if hasEnded { return }
      let ids = Array(waits.keys)
      var requests = ids.compactMap { id in
        waits[id].map { pollfd(fd: $0.socket.descriptor, events: $0.events, revents: 0) }
      }
      requests.append(pollfd(fd: woken.descriptor, events: Int16(POLLIN), revents: 0))
      let deadline = waits.values.lazy.compactMap(\.deadline).min()
      unsafe poll(&requests, nfds_t(requests.count), Self.milliseconds(until: deadline))
      if requests.last?.revents != 0 {
        _ = woken.receive()
        // Later changes send another byte. The next round reads the earlier changes.
        state.withLock { $0.isWoken = false }
      }
      resume(ids, requests)
    }
  }

  private func resume(_ ids: [Int], _ requests: [pollfd]) {
    let now = ContinuousClock.now
    let resumed = state.withLock { state in
      var resumed: [(PollWait, Poller.Outcome)] = []
      for (id, request) in zip(ids, requests) {
        let isLate = state.waits[id]?.deadline.map { $0 <= now } ?? false
        guard request.revents != 0 || isLate, let wait = state.waits.removeValue(forKey: id)
        else { continue }
        resumed.append((wait, request.revents != 0 ? .ready : .timedOut))
      }
      return resumed
    }
    for (wait, outcome) in resumed { wait.continuation.resume(returning: outcome) }
  }

  /// Rounds up, because a thread that wakes early would poll without waiting.
  private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
    guard let deadline else { return -1 }
    let rest = ContinuousClock.now.duration(to: deadline)
    return Int32(clamping: max(0, Int((rest / .milliseconds(1)).rounded(.up).clamped)))
  }
}

extension Double {
  fileprivate var clamped: Int { Int(Swift.min(self, 1e9)) }
}

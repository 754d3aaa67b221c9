#if NATS
import Foundation
import MiniRex
import MiniRexNATS

/// The resources of this process that must not leak.
struct Leftovers: CustomStringConvertible {
  private let threads = count("/proc/self/task")
  private let descriptors = count("/proc/self/fd")
  private let memory = residentMemory()

  var description: String {
    "\(threads) threads, \(descriptors) descriptors, \(memory >> 10) KiB"
  }

  /// A sanitizer retains memory, and scales the load of the tests.
  ///
  /// - Parameter slack: The number of threads and descriptors of an attempt that is in progress.
  func isNoMore(than before: Leftovers, slack: Int) -> Bool {
    threads <= before.threads + 2 + slack && descriptors <= before.descriptors + slack
      && (memory - before.memory < 8 << 20
        || ProcessInfo.processInfo.environment["MINIREX_SCALE"] != nil)
  }
}

private func count(_ folder: String) -> Int {
  ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
}

private func residentMemory() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * 4096
}

/// Subscribes to a number of subjects, a hundred at a time.
func haveSubscriptions(_ count: Int, of nats: NATSConnection) throws {
  for round in 0..<count / 100 {
    let hasCome = DispatchSemaphore(value: 0)
    let tokens = (0..<100).map { number in
      nats.broadcaster(of: Int.self, on: "numbers.\(round).\(number)").subscribe { _ in
        hasCome.signal()
      }
    }
    try nats.publish(1, on: "numbers.\(round).99")
    if hasCome.wait(timeout: .now() + 120) == .timedOut { exit(3) }
    for token in tokens { token.invalidate() }
  }
}

/// Opens a number of connections, one after another.
func haveConnections(_ count: Int, to url: String) async throws {
  for _ in 0..<count {
    let hasCome = DispatchSemaphore(value: 0)
    let nats = NATSConnection(url)
    let token = nats.broadcaster(of: Int.self, on: "numbers").subscribe { _ in hasCome.signal() }
    try nats.publish(1, on: "numbers")
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        if hasCome.wait(timeout: .now() + 120) == .timedOut { exit(3) }
        continuation.resume()
      }
    }
    await nats.close()
    withExtendedLifetime(token) {}
  }
}

/// Opens a number of connections to a server that never answers.
///
/// Half of them time out several times before they are closed.
func haveSilence(_ count: Int, at url: String) async throws {
  for number in 0..<count {
    var options = NATSOptions()
    let timesOut = number.isMultiple(of: 2)
    options.connectTimeout = timesOut ? .milliseconds(5) : .seconds(36_000)
    (options.reconnectWait, options.reconnectJitter) = (.milliseconds(1), .zero)
    let nats = NATSConnection(url, options: options)
    try await Task.sleep(for: .milliseconds(timesOut ? 30 : number % 10))
    await nats.close()
  }
}

/// Prints the resources before and now, and exits.
///
/// The status is 0 as soon as the resources are back to `before`, and 1 if they never are. Closed
/// resources are released a little after the call that closes them.
func end(whenNoMoreThan before: Leftovers, slack: Int = 0, _ what: String) async -> Never {
  let deadline = ContinuousClock.now + .seconds(120)
  while !Leftovers().isNoMore(than: before, slack: slack), ContinuousClock.now < deadline {
    try? await Task.sleep(for: .milliseconds(50))
  }
  let after = Leftovers()
  let text = "\(what) opened and closed: before \(before), after \(after)\n"
  FileHandle.standardError.write(Data(text.utf8))
  exit(after.isNoMore(than: before, slack: slack) ? 0 : 1)
}
#endif

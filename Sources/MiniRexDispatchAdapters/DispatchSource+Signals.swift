internal import CLibrary
public import Dispatch
public import MiniRex

extension DispatchSource {
  /// Creates a broadcaster that emits the number of each received signal.
  ///
  /// ```swift
  /// let subscription = DispatchSource.signals(SIGTERM, SIGINT).subscribe { _ in shutDown() }
  /// ```
  ///
  /// While a signal has a subscriber, its default action does not run. Canceling the last
  /// subscription of the process restores the previous action: `SIGTERM` ends the process again.
  /// `subscribeOnce` and `prefix` restore it after their last callback, so a second signal during that
  /// callback has no effect.
  /// Callbacks run on a separate queue, never inside the signal handler. A signal that arrives
  /// again before its delivery is delivered once, as the system does.
  ///
  /// Child processes start with the default action. If the process has no descriptor left, or if
  /// the system refuses one of the signals, the subscriptions end immediately.
  ///
  /// - Parameters:
  ///   - numbers: The signal numbers. Traps for a number that is no signal, that cannot be caught,
  ///     or that the platform reserves (32 and 33 on Linux).
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public static func signals(
    _ numbers: Int32..., fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Int32> {
    for number in numbers where !canCatch(number) {
      misuse("'signals' cannot catch the signal \(number). Omit it.")
    }
    let names = numbers.map { signalNames[$0] ?? "\($0)" }.joined(separator: ", ")
    let numbers = Set(numbers)
    return SharedAdapterSource { connection in
      let registration = Subscription {
        for number in numbers { SignalHandling.shared.remove(connection, for: number) }
      }
      for number in numbers where !SignalHandling.shared.add(connection, for: number) {
        registration.invalidate()
        return connection.refuse()
      }
      return registration
    }.publisher(watchedBy: .ofSource("signals \(names)", fileID, line))
  }
}

/// Names of common signals.
///
/// A graph shows other signals by number.
private let signalNames: [Int32: String] = [
  SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM",
  SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGCHLD: "SIGCHLD",
  SIGCONT: "SIGCONT", SIGTSTP: "SIGTSTP", SIGWINCH: "SIGWINCH",
]

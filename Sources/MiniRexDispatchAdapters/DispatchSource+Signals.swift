internal import CLibrary
public import Dispatch
public import MiniRex

extension DispatchSource {
  /// Calls whenever the process gets one of the signals, with its number.
  ///
  /// ```swift
  /// let subscription = DispatchSource.signals(SIGTERM, SIGINT).subscribe { _ in shutDown() }
  /// ```
  ///
  /// While somebody is subscribed to a signal, it does nothing else. When the last subscriber of
  /// any publisher of it leaves, what it did before is restored: `SIGTERM` ends the process again.
  /// It calls on a queue of its own, never inside the signal handler. A signal that comes again
  /// before it was told is told once, as the system itself does it.
  ///
  /// Programs that are started from here begin with the default action, whoever is subscribed. In a
  /// process without a descriptor left to hear of signals with, the subscriptions end at once, as
  /// they do if the system refuses one of the signals then.
  ///
  /// - Parameters:
  ///   - numbers: One that is not a signal, cannot be caught, or is kept by the platform for itself
  ///     (on Linux 32 and 33) stops the program.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public static func signals(
    _ numbers: Int32..., fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Int32> {
    for number in numbers where !canCatch(number) {
      misuse("'signals' cannot catch the signal \(number). Leave it out.")
    }
    let names = numbers.map { signalNames[$0] ?? "\($0)" }.joined(separator: ", ")
    let numbers = Set(numbers)
    return LazySource { connection in
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

/// Those that programs listen to; a graph shows the others by their numbers.
private let signalNames: [Int32: String] = [
  SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM",
  SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGCHLD: "SIGCHLD",
  SIGCONT: "SIGCONT", SIGTSTP: "SIGTSTP", SIGWINCH: "SIGWINCH",
]

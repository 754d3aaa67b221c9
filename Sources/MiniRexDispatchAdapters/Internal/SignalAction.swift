internal import CLibrary
internal import Synchronization

/// The received signals since the last read, one bit per number.
let caughtSignals = Atomic<UInt64>(0)
/// The descriptor to which the handler writes, or 0 before it exists.
let signalPipe = Atomic<Int32>(0)

/// The signal handler.
///
/// It may interrupt any code, so it only sets a bit and writes a byte.
private func catchSignal(_ number: Int32) {
  let error = errno
  caughtSignals.bitwiseOr(1 << UInt64(number - 1), ordering: .acquiringAndReleasing)
  var byte: UInt8 = 0
  // A full pipe already contains a byte.
  _ = unsafe write(signalPipe.load(ordering: .acquiring), &byte, 1)
  errno = error
}

extension sigaction {
  /// The action that notifies `SignalHandling`.
  ///
  /// Interrupted system calls restart.
  static var catching: sigaction {
    // Both globals must exist before the first signal, because the handler must not initialize
    // them.
    _ = caughtSignals.load(ordering: .relaxed)
    _ = signalPipe.load(ordering: .relaxed)
    var action = sigaction()
    action.handler = catchSignal
    // A thread with an alternate signal stack, as under AddressSanitizer, may have an unusable
    // stack of its own. The main thread has none after it has ended for the main queue.
    action.sa_flags = Int32(SA_RESTART | SA_ONSTACK)
    return action
  }

  fileprivate var isCatching: Bool {
    let mine: @convention(c) (Int32) -> Void = catchSignal
    return unsafe handler.map { unsafe unsafeBitCast($0, to: UInt.self) }
      == unsafeBitCast(mine, to: UInt.self)
  }

  /// The member of a union that each library names differently.
  private var handler: (@convention(c) (Int32) -> Void)? {
    get {
      #if canImport(Darwin)
      unsafe __sigaction_u.__sa_handler
      #elseif canImport(Glibc)
      unsafe __sigaction_handler.sa_handler
      #elseif canImport(Musl)
      unsafe __sa_handler.sa_handler
      #else
      unsafe sa_handler
      #endif
    }
    set {
      #if canImport(Darwin)
      unsafe __sigaction_u.__sa_handler = newValue
      #elseif canImport(Glibc)
      unsafe __sigaction_handler.sa_handler = newValue
      #elseif canImport(Musl)
      unsafe __sa_handler.sa_handler = newValue
      #else
      unsafe sa_handler = newValue
      #endif
    }
  }
}

/// Returns `false` for a number that is no signal, and for a signal that the platform reserves or
/// that cannot be caught.
func canCatch(_ number: Int32) -> Bool {
  (1...64).contains(number) && ![SIGKILL, SIGSTOP].contains(number)
    && sigaction(number, nil, nil) == 0
}

/// Replaces the action, and returns the previous action, or `nil` if the platform refuses.
func action(replacedBy new: sigaction, of number: Int32) -> sigaction? {
  var (new, old) = (new, sigaction())
  return unsafe sigaction(number, &new, &old) == 0 ? old : nil
}

/// Restores the previous action, unless other code has replaced ours.
func restore(_ old: sigaction, of number: Int32) {
  var current = sigaction()
  unsafe sigaction(number, nil, &current)
  if current.isCatching { _ = action(replacedBy: old, of: number) }
}

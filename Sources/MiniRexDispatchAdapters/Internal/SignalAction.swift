internal import CLibrary
internal import Synchronization

/// Which signals have come since somebody looked, by number.
let caughtSignals = Atomic<UInt64>(0)
/// Where the handler writes that one has come; 0 before there is one.
let signalPipe = Atomic<Int32>(0)

/// Runs anywhere, in the middle of anything: it does nothing but set a bit and write a byte.
private func catchSignal(_ number: Int32) {
  let error = errno
  caughtSignals.bitwiseOr(1 << UInt64(number - 1), ordering: .acquiringAndReleasing)
  var byte: UInt8 = 0
  // A full pipe has a byte in it already.
  _ = unsafe write(signalPipe.load(ordering: .acquiring), &byte, 1)
  errno = error
}

extension sigaction {
  /// Has `SignalHandling` told; calls of the system that it interrupts are made again.
  static var catching: sigaction {
    // Both globals exist before the first signal, which must not be what makes them.
    _ = caughtSignals.load(ordering: .relaxed)
    _ = signalPipe.load(ordering: .relaxed)
    var action = sigaction()
    #if canImport(Darwin)
      unsafe action.__sigaction_u.__sa_handler = catchSignal
    #else
      unsafe action.__sigaction_handler.sa_handler = catchSignal
    #endif
    // Where a thread has a stack for signals, as under AddressSanitizer, its own may be in no state for them:
    // the main thread's is not, once it has ended for the sake of the main queue.
    action.sa_flags = Int32(SA_RESTART | SA_ONSTACK)
    return action
  }

  fileprivate var isCatching: Bool {
    #if canImport(Darwin)
      let handler = unsafe __sigaction_u.__sa_handler
    #else
      let handler = unsafe __sigaction_handler.sa_handler
    #endif
    let mine: @convention(c) (Int32) -> Void = catchSignal
    return unsafe handler.map { unsafe unsafeBitCast($0, to: UInt.self) }
      == unsafeBitCast(mine, to: UInt.self)
  }
}

/// False of a number that is no signal, and of one that the platform keeps or lets nobody catch.
func canCatch(_ number: Int32) -> Bool {
  (1...64).contains(number) && ![SIGKILL, SIGSTOP].contains(number)
    && sigaction(number, nil, nil) == 0
}

/// What it did before; `nil` if the platform refuses.
func action(replacedBy new: sigaction, of number: Int32) -> sigaction? {
  var (new, old) = (new, sigaction())
  return unsafe sigaction(number, &new, &old) == 0 ? old : nil
}

/// Unless somebody else has taken the signal meanwhile.
func restore(_ old: sigaction, of number: Int32) {
  var current = sigaction()
  unsafe sigaction(number, nil, &current)
  if current.isCatching { _ = action(replacedBy: old, of: number) }
}

#if os(Linux) || os(macOS)
  import Foundation
  import MiniRex

  extension Process {
    /// Starts, and calls once when the program has ended.
    func run(onExit: @escaping @Sendable (ProcessExit) -> Void) throws {
      let listener = ExitListener(onExit)
      terminationHandler = { process in
        let status = process.terminationStatus
        listener.hear(process.terminationReason == .exit ? .code(status) : .signal(status))
      }
      do {
        try withSignalsUnblocked { try run() }
      } catch {
        terminationHandler = nil
        throw error
      }
      #if os(Linux)
        waitForExit(of: processIdentifier, listener)
      #endif
    }
  }

  /// Lets go of what it calls when it has called: the platform may keep a process for ever.
  private final class ExitListener: Sendable {
    private let onExit: Lock<(@Sendable (ProcessExit) -> Void)?>

    init(_ onExit: @escaping @Sendable (ProcessExit) -> Void) { self.onExit = Lock(onExit) }

    func hear(_ exit: ProcessExit) {
      let onExit = onExit.withLock { $0.take() }
      onExit?(exit)
    }
  }

  /// The threads of Dispatch block signals, and what they start would inherit that: it could not be
  /// terminated.
  private func withSignalsUnblocked(_ body: () throws -> Void) rethrows {
    var none = sigset_t()
    var blocked = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &blocked)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil) }
    try body()
  }

  #if os(Linux)
    /// Waits on a thread of its own, because here the process tells of its end only when its own
    /// children have ended too.
    ///
    /// The process is left to be reaped by its owner. If that is done already, the owner tells.
    private func waitForExit(of process: Int32, _ listener: ExitListener) {
      let thread = Thread {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0 {
          if errno != EINTR { return }
        }
        let status = unsafe info._sifields._sigchld.si_status
        listener.hear(unsafe info.si_code == Int32(CLD_EXITED) ? .code(status) : .signal(status))
      }
      thread.stackSize = 1 << 17
      thread.start()
    }
  #endif
#endif

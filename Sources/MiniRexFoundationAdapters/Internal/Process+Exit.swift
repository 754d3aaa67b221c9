#if os(Linux) || os(macOS)
  import Foundation

  extension Process {
    /// Starts, and calls when the program has ended, maybe twice.
    func run(onExit: @escaping @Sendable (ProcessExit) -> Void) throws {
      terminationHandler = { process in
        let status = process.terminationStatus
        onExit(process.terminationReason == .exit ? .code(status) : .signal(status))
      }
      do {
        try withSignalsUnblocked { try run() }
      } catch {
        terminationHandler = nil
        throw error
      }
      #if os(Linux)
        waitForExit(of: processIdentifier, onExit)
      #endif
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
    private func waitForExit(
      of process: Int32, _ onExit: @escaping @Sendable (ProcessExit) -> Void
    ) {
      let thread = Thread {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) < 0 {
          if errno != EINTR { return }
        }
        let status = unsafe info._sifields._sigchld.si_status
        onExit(unsafe info.si_code == Int32(CLD_EXITED) ? .code(status) : .signal(status))
      }
      thread.stackSize = 1 << 17
      thread.start()
    }
  #endif
#endif

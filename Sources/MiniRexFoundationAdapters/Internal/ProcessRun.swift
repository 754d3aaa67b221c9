#if os(Linux) || os(macOS)
  internal import Foundation
  internal import MiniRex
  internal import MiniRexEssentialsAdapters

  /// One run of a program: a thread reads what it writes, another waits for its end.
  final class ProcessRun: Sendable {
    typealias Inlet = WorkInlet<TaskUpdate<ProcessLine, ProcessExit, CocoaError>>

    /// - starting: Next: running, or unwanted.
    /// - unwanted: it was terminated before it had a number. Next: running, if it could not be
    ///   helped.
    /// - running: with a number that is its own until it is reaped. Next: ended.
    /// - ended: it has been reaped.
    private enum Phase {
      case starting
      case unwanted
      case running(pid_t)
      case ended(Result<ProcessExit, POSIXError>)
    }

    private let phase = Lock(Phase.starting)

    /// - Parameter make: Called on the thread of the run, where it is told of too.
    /// - Returns: What terminates the program, and comes back when it has been reaped.
    func start(
      telling inlet: Inlet, _ make: @escaping @Sendable () -> Process
    ) -> Subscription {
      let errand = Errand()
      Thread.detachNewThread { [self] in
        do throws(POSIXError) {
          if let exit = try run(make, telling: inlet) { inlet.finish(.finished(.success(exit))) }
        } catch {
          inlet.finish(.finished(.failure(CocoaError(ofStarting: error))))
        }
        errand.comeBack()
      }
      return errand.subscription { [self] in terminate() }
    }

    private func terminate() {
      phase.withLock { phase in
        switch phase {
        case .starting: phase = .unwanted
        case .running(let child): kill(child, SIGTERM)
        case .unwanted, .ended: break
        }
      }
    }

    /// Returns when the program has been reaped and what it has written has been told; `nil` if it
    /// was not started.
    private func run(
      _ make: () -> Process, telling inlet: Inlet
    ) throws(POSIXError) -> ProcessExit? {
      if case .unwanted = phase.withLock({ $0 }) { return nil }
      let interruption = try Interruption()
      let (child, output, errors) = try spawn(make())
      let waiting = Thread { [self] in
        waitForExit(of: child)
        interruption.interrupt()
      }
      waiting.stackSize = 1 << 17
      waiting.start()
      var streams = [
        ProcessOutput(output) { inlet.report(.progress(.output($0))) },
        ProcessOutput(errors) { inlet.report(.progress(.error($0))) },
      ]
      while let isReady = interruption.wait(for: streams.map(\.descriptor)) {
        for index in isReady.indices.reversed() where isReady[index] {
          if streams[index].next() == nil { streams.remove(at: index) }
        }
      }
      for index in streams.indices { streams[index].end() }
      guard case .ended(let exit) = phase.withLock({ $0 }) else { return nil }
      return try exit.get()
    }

    /// The program alone has the other ends when this returns.
    private func spawn(
      _ process: Process
    ) throws(POSIXError) -> (child: pid_t, output: Descriptor, errors: Descriptor) {
      let (output, errors) = (try PipeEnds(), try PipeEnds())
      let child = try process.spawn(output: output.writing, errors: errors.writing)
      phase.withLock { phase in
        if case .unwanted = phase { kill(child, SIGTERM) }
        phase = .running(child)
      }
      return (child, output.reading, errors.reading)
    }

    /// First without reaping it, so that nobody sends a signal to whatever has its number next.
    private func waitForExit(of child: pid_t) {
      var info = unsafe siginfo_t()
      while unsafe waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
      phase.withLock { phase in
        var status: Int32 = 0
        let isReaped = unsafe waitpid(child, &status, 0) == child
        phase = .ended(isReaped ? .success(ProcessExit(status: status)) : .failure(.last))
      }
    }
  }

  extension ProcessExit {
    fileprivate init(status: Int32) {
      let signal = status & 0x7F
      self = signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
    }
  }

  extension CocoaError {
    /// In the words that `Process` uses, with what the system says as the reason.
    fileprivate init(ofStarting error: POSIXError) {
      let code: Code
      switch error.code {
      case .ENOENT, .ENOTDIR: code = .fileReadNoSuchFile
      case .EACCES, .EPERM: code = .fileReadNoPermission
      default: code = .fileReadUnknown
      }
      self.init(code, userInfo: error.userInfo.merging([NSUnderlyingErrorKey: error]) { $1 })
    }
  }
#endif

#if os(Linux) || os(macOS)
internal import Foundation
internal import MiniRex
internal import MiniRexEssentialsAdapters

/// One run of a program.
///
/// One thread reads its output, another waits for its exit.
final class ProcessRun: Sendable {
  typealias Inlet = WorkInlet<TaskUpdate<ProcessLine, ProcessExit, CocoaError>>

  /// - starting → running, unwanted
  /// - unwanted: canceled before it had an identifier. → running, if the start could not be
  ///   prevented
  /// - running: with an identifier that is valid until the program is reaped. → ended
  /// - ended: reaped.
  private enum Phase {
    case starting
    case unwanted
    case running(pid_t)
    case ended(Result<ProcessExit, POSIXError>)
  }

  private let phase = Lock(Phase.starting)

  /// Starts the run.
  ///
  /// - Parameter make: A closure that creates the process, on the thread of the run, where
  ///   updates are reported as well.
  /// - Returns: A subscription that terminates the program, and has finished when the program is
  ///   reaped.
  func start(
    telling inlet: Inlet, _ make: @escaping @Sendable () -> Process
  ) -> Subscription {
    let valve = SendValve.ofConnection()
    let workHandle = WorkHandle(waitingAt: valve)
    Thread.detachNewThread { [self] in
      do throws(POSIXError) {
        if let exit = try run(make, telling: inlet, valve) {
          inlet.finish(.finished(.success(exit)))
        }
      } catch {
        inlet.finish(.finished(.failure(CocoaError(ofStarting: error))))
      }
      workHandle.finish()
    }
    return workHandle.subscription { [self] in terminate() }
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

  /// Returns when the program is reaped and its output is reported, or `nil` if it was not
  /// started.
  private func run(
    _ make: () -> Process, telling inlet: Inlet, _ valve: SendValve
  ) throws(POSIXError) -> ProcessExit? {
    if case .unwanted = phase.withLock({ $0 }) { return nil }
    let interruption = try InterruptPipe()
    let (child, output, errors) = try spawn(make())
    let waiting = Thread { [self] in
      waitForExit(of: child)
      interruption.interrupt()
    }
    waiting.stackSize = 1 << 17
    waiting.start()
    var streams = [
      // Blocked for a full subscriber, the thread reads no further output.
      ProcessOutput(output) { line in _ = valve.pass { inlet.report(.progress(.output(line))) } },
      ProcessOutput(errors) { line in _ = valve.pass { inlet.report(.progress(.error(line))) } },
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

  /// Starts the program, and returns its identifier and the reading ends of its output.
  ///
  /// Only the program holds the other ends when this function returns.
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

  /// Waits without reaping, then reaps under the lock, so that no signal reaches a new process with
  /// the same identifier.
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
  /// Creates the error of `Process`, with the error of the system as its reason.
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

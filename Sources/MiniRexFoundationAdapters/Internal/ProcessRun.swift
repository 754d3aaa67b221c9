#if os(Linux) || os(macOS)
  import Dispatch
  import Foundation
  import MiniRex

  /// One run of a program.
  ///
  /// Unchecked because each part belongs to a queue: the process to `control`, so that it can be ended
  /// while subscribers are called; the output to `output`.
  final class ProcessRun: @unchecked Sendable {
    typealias Inlet = WorkInlet<TaskUpdate<ProcessLine, ProcessExit, CocoaError>>

    private let control = DispatchQueue(label: "MiniRex.process")
    private let output = DispatchQueue(label: "MiniRex.output")
    private let inlet: Inlet
    private var process: Process?
    private var isTerminated = false
    private var readings: [PipeReading] = []

    init(for inlet: Inlet) {
      self.inlet = inlet
    }

    func start(_ make: @escaping @Sendable () -> Process) {
      control.async { [self] in
        if isTerminated { return }
        let process = make()
        let pipes = [Pipe(), Pipe()]
        process.standardOutput = pipes[0]
        process.standardError = pipes[1]
        self.process = process
        // The end may be known before `run` has returned, and has to find what it must read.
        output.sync {
          readings = [
            reading(pipes[0]) { .output($0) },
            reading(pipes[1]) { .error($0) },
          ]
        }
        do {
          try process.run { [self] exit in output.async { [self] in finish(exit) } }
          output.async { [self] in for reading in readings { reading.start() } }
        } catch {
          self.process = nil
          inlet.finish(.finished(.failure(CocoaError(of: error))))
        }
      }
    }

    func terminate() {
      control.async { [self] in
        isTerminated = true
        if let process, process.isRunning { process.terminate() }
      }
    }

    private func reading(
      _ pipe: Pipe, _ line: @escaping @Sendable (String) -> ProcessLine
    ) -> PipeReading {
      var splitter = LineSplitter()
      return PipeReading(pipe, on: output) { [inlet] bytes in
        splitter.split(bytes) { inlet.report(.progress(line($0))) }
      } onEnd: { [inlet] in
        splitter.end { inlet.report(.progress(line($0))) }
      }
    }

    private func finish(_ exit: ProcessExit) {
      for reading in readings { reading.readRemainder() }
      inlet.finish(.finished(.success(exit)))
      control.async { [self] in process = nil }
    }
  }

  extension CocoaError {
    /// The platform's own, or one that has it as its reason.
    fileprivate init(of error: any Error) {
      self =
        error as? CocoaError
        ?? CocoaError(.fileReadUnknown, userInfo: [NSUnderlyingErrorKey: error])
    }
  }
#endif

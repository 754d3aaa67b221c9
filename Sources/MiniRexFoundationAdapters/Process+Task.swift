#if os(Linux) || os(macOS)
  public import Foundation
  public import MiniRex

  extension Process {
    /// Runs a program, and tells its lines as progress and how it has ended as result.
    ///
    /// ```swift
    /// let status = Process.task(URL(filePath: "/usr/bin/git"), ["status"]) { process in
    ///   process.currentDirectoryURL = repository
    /// }
    /// ```
    ///
    /// It starts when somebody subscribes, once for all subscribers. When the last one leaves
    /// before it has ended, it gets `SIGTERM`, and what it still writes is read and dropped; if it
    /// takes no notice of that it goes on, and the next subscriber starts another one. Its own
    /// children get no signal. A program that cannot be started is a failure; one that ends badly
    /// is a success, since it has run.
    ///
    /// All that the program has written is told before the result. Children that it leaves behind
    /// with its output are not waited for: what they write after its end is lost. Lines come on a
    /// thread of the task's own, those of each stream in order, and the program waits while they
    /// are not taken; whoever subscribes later gets the latest line, not the ones before it.
    ///
    /// Nobody else may reap the program, as `wait()` for any child does, and as ignoring `SIGCHLD`
    /// does: how it has ended is not known then, which is a failure.
    ///
    /// - Parameters:
    ///   - executable: The file of the program; no search path is used.
    ///   - arguments: What follows the name of the program.
    ///   - configure: Called with a fresh process before each run, on the thread of the task, for
    ///     what else the program needs: its folder, its environment, its standard input, which is
    ///     empty unless you say otherwise. Output and errors are the task's. The process only
    ///     describes the program, so it does not know how the run goes, and calls no handler.
    ///   - fileID: Where it is written, for an instrument.
    ///   - line: Where it is written, for an instrument.
    public static func task(
      _ executable: URL, _ arguments: [String] = [],
      configure: @escaping @Sendable (Process) -> Void = { _ in },
      fileID: String = #fileID, line: Int = #line
    ) -> ProgressiveTask<ProcessLine, ProcessExit, CocoaError> {
      ProgressiveTask<ProcessLine, ProcessExit, CocoaError>(
        watchedBy: .ofSource("process \(executable.path())", fileID, line),
        sharing: SharedWork { inlet in
          // A process would stop the program.
          if !executable.isFileURL {
            let error = CocoaError(
              .fileReadUnsupportedScheme, userInfo: [NSURLErrorKey: executable])
            inlet.finish(.finished(.failure(error)))
            return .ended
          }
          let run = ProcessRun()
          return run.start(telling: inlet) {
            let process = Process()
            process.executableURL = executable
            process.arguments = arguments
            process.standardInput = FileHandle.nullDevice
            configure(process)
            return process
          }
        })
    }
  }

  /// A line that a process has written, without its end.
  ///
  /// What is not UTF-8 is repaired. A line of more than 1,048,576 bytes comes in pieces of that
  /// size.
  public enum ProcessLine: Sendable, Hashable {
    /// From its standard output.
    case output(String)
    /// From its standard error.
    case error(String)

    /// The line, whichever stream it is from.
    public var text: String {
      switch self {
      case .output(let text), .error(let text): text
      }
    }
  }

  /// How a process has ended.
  public enum ProcessExit: Sendable, Hashable {
    /// By itself, with this code.
    case code(Int32)
    /// By this signal, which it did not catch.
    case signal(Int32)
  }
#endif

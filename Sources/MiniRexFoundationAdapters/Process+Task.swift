#if os(Linux) || os(macOS)
public import Foundation
public import MiniRex

extension Process {
  /// Creates a task that runs a program.
  ///
  /// It reports output lines as progress, and finishes with the exit.
  ///
  /// ```swift
  /// let status = Process.task(URL(filePath: "/usr/bin/git"), ["status"]) { process in
  ///   process.currentDirectoryURL = repository
  /// }
  /// ```
  ///
  /// The first subscriber starts the program, and all subscribers share it. Canceling the last
  /// subscription sends `SIGTERM`, and further output is read and dropped. A program that ignores
  /// the signal continues, and the next subscriber starts another one. Children of the program
  /// receive no signal. A program that cannot be started is a failure. A zero byte in its path,
  /// arguments, or environment is a failure. Any exit is a success, because the program ran.
  ///
  /// All output of the program is reported before the result. Children that still hold its output
  /// are not awaited, and their later output is lost. Lines are reported on a separate thread, in
  /// the order of each stream. The program blocks while callbacks do not take its lines, or while
  /// a subscriber with `BufferingPolicy.suspending(n)` has `n` lines in flight. A late subscriber
  /// receives the latest line only.
  ///
  /// Other code must not reap the program, as `wait()` for any child and ignoring `SIGCHLD` do.
  /// The exit is then unknown, which is a failure.
  ///
  /// - Parameters:
  ///   - executable: The file of the program. No search path applies.
  ///   - arguments: The arguments after the name of the program.
  ///   - configure: A closure that receives a new process before each run, on the thread of the
  ///     task, to set the folder, the environment, and the standard input (empty by default). The
  ///     task owns the standard output and error. The process only describes the program: it has
  ///     no state of the run, and calls no handler.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public static func task(
    _ executable: URL, _ arguments: [String] = [],
    configure: @escaping @Sendable (Process) -> Void = { _ in },
    fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<ProcessLine, ProcessExit, CocoaError> {
    ProgressiveTask<ProcessLine, ProcessExit, CocoaError>(
      watchedBy: .ofSource("process \(executable.path())", fileID, line),
      sharing: SharedWork { inlet in
        // `Process` would trap.
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

/// A line of output, without its line ending, `"\n"` or `"\r\n"`.
///
/// Invalid UTF-8 is repaired. A line of more than 1,048,576 bytes arrives in consecutive pieces of
/// at most that size, which end between two characters. The joined pieces are the line. A text that
/// you search for may begin in one piece and end in the next.
public enum ProcessLine: Sendable, Hashable {
  /// A line of the standard output.
  case output(String)
  /// A line of the standard error.
  case error(String)

  /// The text of the line, from either stream.
  public var text: String {
    switch self {
    case .output(let text), .error(let text): text
    }
  }
}

/// The exit of a process.
public enum ProcessExit: Sendable, Hashable {
  /// The process exited with this code.
  case code(Int32)
  /// A signal that it did not catch terminated the process.
  case signal(Int32)
}
#endif

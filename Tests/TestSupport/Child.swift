import Foundation
public import Testing

/// A running program of the package, with its standard streams.
///
/// Foundation's `Process` leaks when a program exits early, so this type does not use it.
public final class Child {
  /// The standard output.
  public var output: Output
  /// The standard error.
  public var errors: Output

  private static let starting = NSLock()
  private let input: FileHandle
  private let process: RunningProcess

  /// Starts a program that is built with the tests.
  public convenience init(_ arguments: String..., program: String = "minirex-tail") throws {
    try self.init(arguments, program: program)
  }

  /// - Parameter path: Of another program, which is not built here.
  /// - Parameter openFiles: The limit of open files. The default is the system's.
  /// - Parameter onTerminal: `true` if standard error is a terminal.
  public init(
    _ arguments: [String], program: String = "minirex-tail", readsOutput: Bool = true,
    path: String? = nil, openFiles: Int? = nil, onTerminal: Bool = false
  ) throws {
    // Start one process at a time, because a concurrent start would inherit the pipes.
    Child.starting.lock()
    defer { Child.starting.unlock() }
    let (input, output, pipe) = (Pipe(), Pipe(), Pipe())
    let errors =
      try onTerminal
      ? openTerminal() : (reading: pipe.fileHandleForReading, writing: pipe.fileHandleForWriting)
    let ends = [input, output].flatMap { [$0.fileHandleForReading, $0.fileHandleForWriting] }
    for end in ends + [errors.reading, errors.writing] {
      // An inherited write end would keep the program's standard input open.
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    // The program and the tests are built into one folder.
    let path = path ?? Bundle.main.bundleURL.appending(path: program).path
    let limit = openFiles.map {
      ["/bin/sh", "-c", "ulimit -n \($0) && exec \"$0\" \"$@\""]
    }
    process = try RunningProcess(
      (limit ?? []) + [path] + arguments,
      streams: [
        input.fileHandleForReading, output.fileHandleForWriting, errors.writing,
      ])
    self.input = input.fileHandleForWriting
    self.output = Output(readsOutput ? output.fileHandleForReading : nil)
    self.errors = Output(errors.reading)
  }

  deinit {
    process.send(SIGKILL)
  }

  /// Writes to the standard input.
  public func write(_ text: String) throws {
    try input.write(contentsOf: Data(text.utf8))
  }

  /// Closes the standard input.
  public func closeInput() throws {
    try input.close()
  }

  /// Sends a signal, unless the program has exited.
  public func send(_ signal: Int32) {
    process.send(signal)
  }

  /// Waits for the exit status, which is the negative number of the signal after a kill.
  ///
  /// Records an issue at the call and returns `nil` if the program does not exit.
  public func status(
    patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> Int32? {
    await process.status(patience: patience, sourceLocation: sourceLocation)
  }
}

private func openTerminal() throws -> (reading: FileHandle, writing: FileHandle) {
  var (own, other): (Int32, Int32) = (0, 0)
  if unsafe openpty(&own, &other, nil, nil, nil) != 0 { throw POSIXError(.ENOTTY) }
  // Keep the other side open until the tests exit, because reading from a closed terminal fails.
  _ = fcntl(other, F_SETFD, FD_CLOEXEC)
  return (FileHandle(fileDescriptor: own), FileHandle(fileDescriptor: dup(other)))
}

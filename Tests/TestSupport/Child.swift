package import Foundation

/// A running program of the package, with its standard streams.
///
/// Foundation's `Process` leaks when a program exits early, so this type does not use it.
package final class Child {
  package var output: Output
  package var errors: Output

  private static let starting = NSLock()
  private let input: FileHandle
  private let process: RunningProcess

  package convenience init(_ arguments: String..., program: String = "minirex-tail") throws {
    try self.init(arguments, program: program)
  }

  /// - Parameter path: Of another program, which is not built here.
  /// - Parameter openFiles: The limit of open files. The default is the system's.
  /// - Parameter onTerminal: `true` if standard error is a terminal.
  package init(
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

  package func write(_ text: String) throws {
    try input.write(contentsOf: Data(text.utf8))
  }

  package func closeInput() throws {
    try input.close()
  }

  package func send(_ signal: Int32) {
    process.send(signal)
  }

  /// Waits for the exit status, which is the negative number of the signal after a kill.
  package func status() async -> Int32? {
    for await status in process.statuses { return status }
    return nil
  }
}

private func openTerminal() throws -> (reading: FileHandle, writing: FileHandle) {
  var (own, other): (Int32, Int32) = (0, 0)
  if unsafe openpty(&own, &other, nil, nil, nil) != 0 { throw POSIXError(.ENOTTY) }
  // Keep the other side open until the tests exit, because reading from a closed terminal fails.
  _ = fcntl(other, F_SETFD, FD_CLOEXEC)
  return (FileHandle(fileDescriptor: own), FileHandle(fileDescriptor: dup(other)))
}

/// The output of a program, line by line.
package struct Output {
  private var iterator: AsyncStream<String>.Iterator

  /// Creates an output, which is empty without a handle.
  package init(_ handle: FileHandle?) {
    self.init { handle.flatMap { bytes(from: $0) } }
  }

  /// Creates the output of a server.
  package init(_ client: HTTPClient) {
    self.init { client.receive().map { Data($0) } }
  }

  /// - Parameter read: Returns the next bytes, or `nil` at the end. It may block its thread.
  private init(_ read: @escaping @Sendable () -> Data?) {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    iterator = lines.makeAsyncIterator()
    onNewThread {
      var rest = Data()
      while let data = read() {
        let parts = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for part in parts.dropLast() {
          continuation.yield(String(decoding: rest + part, as: UTF8.self))
          rest = Data()
        }
        rest += parts.last ?? Data()
      }
      if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
      continuation.finish()
    }
  }

  /// Returns the lines up to the first line that contains `text`, or all lines.
  @discardableResult
  package mutating func until(_ text: String) async -> [String] {
    var lines: [String] = []
    while let line = await iterator.next(isolation: #isolation) {
      lines.append(line)
      if line.contains(text) { break }
    }
    return lines
  }

  package mutating func rest() async -> [String] {
    await until("\n")
  }
}

/// Returns `nil` at the end, or after an error.
private func bytes(from handle: FileHandle) -> Data? {
  var data = Data(count: 1 << 16)
  while true {
    let count = unsafe data.withUnsafeMutableBytes { buffer in
      unsafe read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
    }
    if count > 0 { return data.prefix(count) }
    if count == 0 || errno != EINTR { return nil }
  }
}

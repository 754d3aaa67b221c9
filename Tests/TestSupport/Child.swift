package import Foundation

/// The built program, running, with its three streams in the hands of a test.
///
/// Not Foundation's `Process`, which leaks when a program ends early.
package final class Child {
  package var output: Output
  package var errors: Output

  private static let starting = NSLock()
  private let input: FileHandle
  private let process: RunningProcess

  package convenience init(_ arguments: String..., program: String = "minirex-tail") throws {
    try self.init(arguments, program: program)
  }

  /// - Parameter openFiles: How many files it may have open, if that is less than usual.
  /// - Parameter onTerminal: True if standard error is a terminal.
  package init(
    _ arguments: [String], program: String = "minirex-tail", readsOutput: Bool = true,
    openFiles: Int? = nil, onTerminal: Bool = false
  ) throws {
    // A process that is started while another one is would get its pipes too.
    Child.starting.lock()
    defer { Child.starting.unlock() }
    let (input, output, pipe) = (Pipe(), Pipe(), Pipe())
    let errors =
      try onTerminal
      ? openTerminal() : (reading: pipe.fileHandleForReading, writing: pipe.fileHandleForWriting)
    let ends = [input, output].flatMap { [$0.fileHandleForReading, $0.fileHandleForWriting] }
    for end in ends + [errors.reading, errors.writing] {
      // Otherwise the program would keep its own standard input open.
      _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }
    // It is built into the same folder as the tests.
    let path = Bundle.main.bundleURL.appending(path: program).path
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

  /// Waits for the end; negative if a signal has made it.
  package func status() async -> Int32? {
    for await status in process.statuses { return status }
    return nil
  }
}

private func openTerminal() throws -> (reading: FileHandle, writing: FileHandle) {
  var (own, other): (Int32, Int32) = (0, 0)
  if unsafe openpty(&own, &other, nil, nil, nil) != 0 { throw POSIXError(.ENOTTY) }
  // It stays open to the end of the tests: there is no reading from a terminal that nobody has.
  _ = fcntl(other, F_SETFD, FD_CLOEXEC)
  return (FileHandle(fileDescriptor: own), FileHandle(fileDescriptor: dup(other)))
}

/// What a program writes, line by line; a test waits for it instead of sleeping.
package struct Output {
  private var iterator: AsyncStream<String>.Iterator

  /// Without a handle there is nothing to read.
  package init(_ handle: FileHandle?) {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    iterator = lines.makeAsyncIterator()
    guard let handle else {
      continuation.finish()
      return
    }
    Thread.detachNewThread {
      var rest = Data()
      while let data = bytes(from: handle) {
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

  /// All lines up to the first that contains `text`; to the end if none does.
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

/// `nil` at the end, and when the other side has broken the connection.
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

import Foundation

/// The built program, running, with its three streams in the hands of a test.
///
/// Not Foundation's `Process`, which leaks when a program ends early.
final class Child {
  var output: Output
  var errors: Output

  private let input: FileHandle
  private let process: RunningProcess

  convenience init(_ arguments: String...) throws {
    try self.init(arguments)
  }

  /// - Parameter openFiles: How many files it may have open, if that is less than usual.
  init(_ arguments: [String], readsOutput: Bool = true, openFiles: Int? = nil) throws {
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    for pipe in [input, output, errors] {
      // Otherwise the program would keep its own standard input open.
      for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
        _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
      }
    }
    // It is built into the same folder as the tests.
    let program = Bundle.main.bundleURL.appending(path: "minirex-tail").path
    let limit = openFiles.map {
      ["/bin/sh", "-c", "ulimit -n \($0) && exec \"$0\" \"$@\""]
    }
    process = try RunningProcess(
      (limit ?? []) + [program] + arguments,
      streams: [
        input.fileHandleForReading, output.fileHandleForWriting, errors.fileHandleForWriting,
      ])
    self.input = input.fileHandleForWriting
    self.output = Output(readsOutput ? output.fileHandleForReading : nil)
    self.errors = Output(errors.fileHandleForReading)
  }

  deinit {
    process.send(SIGKILL)
  }

  func write(_ text: String) throws {
    try input.write(contentsOf: Data(text.utf8))
  }

  func closeInput() throws {
    try input.close()
  }

  func send(_ signal: Int32) {
    process.send(signal)
  }

  /// Waits for the end; negative if a signal has made it.
  func status() async -> Int32? {
    for await status in process.statuses { return status }
    return nil
  }
}

/// What a program writes, line by line; a test waits for it instead of sleeping.
struct Output {
  private var iterator: AsyncStream<String>.Iterator

  /// Without a handle there is nothing to read.
  init(_ handle: FileHandle?) {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    iterator = lines.makeAsyncIterator()
    guard let handle else {
      continuation.finish()
      return
    }
    Thread.detachNewThread {
      var rest = Data()
      while case let data = handle.availableData, !data.isEmpty {
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
  mutating func until(_ text: String) async -> [String] {
    var lines: [String] = []
    while let line = await iterator.next(isolation: #isolation) {
      lines.append(line)
      if line.contains(text) { break }
    }
    return lines
  }

  mutating func rest() async -> [String] {
    await until("\n")
  }
}

import Foundation

/// The built program, running, with its three streams in the hands of a test.
final class Child {
  /// What it has written so far, line by line; a test waits for it instead of sleeping.
  struct Output {
    private var iterator: AsyncStream<String>.Iterator

    init(_ pipe: Pipe, isClosed: Bool = false) {
      let (lines, continuation) = AsyncStream.makeStream(of: String.self)
      iterator = lines.makeAsyncIterator()
      let handle = pipe.fileHandleForReading
      if isClosed {
        try? handle.close()
        return
      }
      let thread = Thread {
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
      thread.start()
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

  var output: Output
  var errors: Output

  private let process = Process()
  private let input = Pipe()
  private let ends: AsyncStream<Int32>

  convenience init(_ arguments: String...) throws {
    try self.init(arguments)
  }

  /// - Parameter openFiles: How many files it may have open, if that is less than usual.
  init(_ arguments: [String], readsOutput: Bool = true, openFiles: Int? = nil) throws {
    let output = Pipe()
    let errors = Pipe()
    let (ends, end) = AsyncStream.makeStream(of: Int32.self)
    self.ends = ends
    // It is built into the same folder as the tests.
    let program = Bundle.main.bundleURL.appending(path: "minirex-tail")
    if let openFiles {
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments =
        ["-c", "ulimit -n \(openFiles) && exec \"$0\" \"$@\"", program.path] + arguments
    } else {
      process.executableURL = program
      process.arguments = arguments
    }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    process.terminationHandler = { process in
      end.yield(
        process.terminationReason == .exit
          ? process.terminationStatus : -process.terminationStatus)
      end.finish()
    }
    try process.run()
    self.output = Output(output, isClosed: !readsOutput)
    self.errors = Output(errors)
  }

  func write(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  func closeInput() throws {
    try input.fileHandleForWriting.close()
  }

  func send(_ signal: Int32) {
    kill(process.processIdentifier, signal)
  }

  /// Waits for the end; negative if a signal has made it.
  func status() async -> Int32? {
    for await status in ends { return status }
    return nil
  }
}

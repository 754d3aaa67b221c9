import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ReadTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `all subscribers receive all bytes, and end of file finishes them`()
    async throws
  {
    let pipe = Pipe()
    let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
    let (one, other) = (Recorder(reads), Recorder(reads))

    try pipe.fileHandleForWriting.write(contentsOf: Data("abc".utf8))
    #expect(await text(one.next()) == "abc")
    try pipe.fileHandleForWriting.write(contentsOf: Data("def".utf8))
    try pipe.fileHandleForWriting.close()

    #expect(await text(one.next(2)) == "def")
    #expect(await text(other.next(3)) == "abcdef")
    #expect(one.hasEnded)
    #expect(other.hasEnded)
  }

  @Test func `bytes stay in the pipe while there is no subscriber`() async throws {
    let pipe = Pipe()
    let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
    let early = Recorder(reads)
    try pipe.fileHandleForWriting.write(contentsOf: Data("a".utf8))
    #expect(await text(early.next()) == "a")
    early.invalidate()
    try pipe.fileHandleForWriting.write(contentsOf: Data("b".utf8))

    let late = Recorder(reads)

    #expect(await text(late.next()) == "b")
  }

  @Test func `a write-only descriptor fails`() {
    let pipe = Pipe()

    let recorder = Recorder(
      DispatchSource.reads(from: pipe.fileHandleForWriting.fileDescriptor))

    #expect(recorder.updates == [.failure(POSIXError(.EBADF))])
    #expect(recorder.hasEnded)
  }

  @Test func `an empty datagram does not finish the publisher`() async throws {
    var sockets: [Int32] = [-1, -1]
    #expect(unsafe socketpair(AF_UNIX, datagrams, 0, &sockets) == 0)
    defer { for socket in sockets { close(socket) } }
    let recorder = Recorder(DispatchSource.reads(from: sockets[0]))

    for text in ["ab", "", "cd"] { unsafe send(sockets[1], text, text.utf8.count, 0) }

    #expect(await text(recorder.next(2)) == "abcd")
    #expect(recorder.isSubscribed)
  }

  @Test func `a closed descriptor finishes with its error`() async throws {
    // Use a high number, which no other test opens concurrently.
    let pipe = Pipe()
    let descriptor = fcntl(pipe.fileHandleForReading.fileDescriptor, F_DUPFD, 700)
    withExtendedLifetime(pipe) {}
    let reads = DispatchSource.reads(from: descriptor)
    close(descriptor)

    for _ in 0..<2 {
      let recorder = Recorder(reads)
      #expect(recorder.updates == [.failure(POSIXError(.EBADF))])
      #expect(recorder.hasEnded)
    }
    #expect(Recorder(DispatchSource.reads(from: -1)).updates == [.failure(POSIXError(.EBADF))])
  }

  @Test func `closing the descriptor while it is read keeps the pipe readable`() async throws {
    let pipe = Pipe()
    let recorder = Recorder(
      DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor))
    try pipe.fileHandleForReading.close()
    // The new pipe may receive the number of the closed descriptor.
    let another = Pipe()
    try another.fileHandleForWriting.write(contentsOf: Data("other".utf8))

    try pipe.fileHandleForWriting.write(contentsOf: Data("mine".utf8))
    try pipe.fileHandleForWriting.close()

    #expect(await text(recorder.next(2)) == "mine")
    #expect(recorder.hasEnded)
  }

  @Test func `a folder's descriptor finishes with EISDIR`() async {
    let descriptor = unsafe open(folder.url.path, O_RDONLY)
    defer { close(descriptor) }

    let recorder = Recorder(DispatchSource.reads(from: descriptor))

    #expect(await recorder.next(2) == [.failure(POSIXError(.EISDIR))])
    #expect(recorder.hasEnded)
  }

  @Test func `a large file arrives in pieces, in order`() async throws {
    let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let url = folder.url.appending(path: "large")
    try bytes.write(to: url)
    let handle = try FileHandle(forReadingFrom: url)

    let recorder = Recorder(DispatchSource.reads(from: handle.fileDescriptor))

    let pieces = await recorder.next(.max)
    #expect(pieces.count > 10)
    #expect(pieces.reduce(into: Data()) { $0 += (try? $1.get()) ?? Data() } == bytes)
    #expect(recorder.hasEnded)
  }

  @Test func `bytes written after a cancellation stay in the pipe`() throws {
    let (input, output) = try Kind.pipe.open(in: folder)
    defer {
      close(input)
      close(output)
    }
    _ = fcntl(input, F_SETFL, O_NONBLOCK)
    let reads = DispatchSource.reads(from: input)

    for round in 0..<scaled(2_000) {
      let subscription = reads.subscribe { _ in }
      unsafe write(output, "a", 1)
      subscription.invalidateAndWait()
      unsafe write(output, "b", 1)

      var bytes: [UInt8] = [0, 0]
      let count = unsafe read(input, &bytes, bytes.count)
      try #require(count > 0 && bytes[count - 1] == UInt8(ascii: "b"), "Lost in round \(round).")
    }
  }

  @Test(arguments: Kind.allCases)
  func `two publishers share the bytes of a descriptor until they are canceled`(_ kind: Kind)
    async throws
  {
    let (reading, writing) = try kind.open(in: folder)
    defer {
      close(reading)
      close(writing)
    }
    let flags = fcntl(reading, F_GETFL)
    let recorders = (0..<2).map { _ in Recorder(DispatchSource.reads(from: reading)) }

    for byte in UInt8(ascii: "a")...UInt8(ascii: "z") {
      unsafe write(writing, [byte, 10], 2)
    }
    await until { recorders.map { text($0.updates).count }.reduce(0, +) == 52 }
    #expect(fcntl(reading, F_GETFL) == flags)
    for recorder in recorders { recorder.invalidate() }
    unsafe write(writing, "!\n", 2)

    #expect(text([.success(await next(from: reading))]) == "!\n")
  }

  /// Opening its file again would create another terminal.
  @Test func `the controller of a terminal is read`() async throws {
    let (terminal, controller) = try Kind.terminal.open(in: folder)
    defer {
      close(terminal)
      close(controller)
    }
    let recorder = Recorder(DispatchSource.reads(from: controller))

    for word in ["one", "two"] {
      unsafe write(terminal, word, 3)
      #expect(await text(recorder.next()) == word)
    }
  }

  /// In a process of its own, because other tests open descriptors.
  @Test func `short subscriptions leave no open descriptor`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let pipe = Pipe()
      let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
      for _ in 0..<scaled(50) {
        for _ in 0..<50 {
          let subscription = reads.subscribe { _ in }
          subscription.invalidate()
        }
        // A canceled dispatch source closes its descriptor asynchronously.
        await until { openDescriptors() <= 200 }
      }
      withExtendedLifetime(pipe) {}
    }
  }

  private func text(_ updates: [Result<Data, POSIXError>]) -> String {
    updates.map { String(decoding: (try? $0.get()) ?? Data(), as: UTF8.self) }.joined()
  }

  /// Reads the pending bytes, or waits for the next.
  private func next(from descriptor: Int32) async -> Data {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        continuation.resume(returning: Data(bytes.prefix(max(0, count))))
      }
    }
  }

  enum Kind: CaseIterable {
    case pipe, fifo, socket, terminal

    func open(in folder: Folder) throws -> (reading: Int32, writing: Int32) {
      var ends: [Int32] = [-1, -1]
      var result: Int32 = 0
      switch self {
      case .pipe:
        result = unsafe Foundation.pipe(&ends)
      case .fifo:
        let path = folder.file("fifo").path
        result = unsafe mkfifo(path, 0o600)
        ends[1] = unsafe Foundation.open(path, O_RDWR)
        ends[0] = unsafe Foundation.open(path, O_RDONLY)
      case .socket:
        #if canImport(Glibc)
        let type = Int32(SOCK_STREAM.rawValue)
        #else
        let type = SOCK_STREAM
        #endif
        result = unsafe socketpair(AF_UNIX, type, 0, &ends)
      case .terminal:
        var (controller, terminal): (Int32, Int32) = (-1, -1)
        result = unsafe openpty(&controller, &terminal, nil, nil, nil)
        ends = [terminal, controller]
      }
      try #require(result == 0)
      return (ends[0], ends[1])
    }
  }
}

#if canImport(Glibc)
private let datagrams = Int32(SOCK_DGRAM.rawValue)
#else
private let datagrams = SOCK_DGRAM
#endif

import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite struct ReadTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `all subscribers get the bytes that come, and the end of the file is the end`()
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

  @Test func `what nobody is subscribed to stays in the pipe`() async throws {
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

  @Test func `a closed descriptor is the end, with the reason`() async throws {
    // A number that nobody else gets meanwhile.
    let descriptor = fcntl(Pipe().fileHandleForReading.fileDescriptor, F_DUPFD, 700)
    let reads = DispatchSource.reads(from: descriptor)
    close(descriptor)

    for _ in 0..<2 {
      let recorder = Recorder(reads)
      #expect(recorder.updates == [.failure(POSIXError(.EBADF))])
      #expect(recorder.hasEnded)
    }
    #expect(Recorder(DispatchSource.reads(from: -1)).updates == [.failure(POSIXError(.EBADF))])
  }

  @Test func `a descriptor that is closed while it is read goes on to its own end`() async throws {
    let pipe = Pipe()
    let recorder = Recorder(
      DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor))
    try pipe.fileHandleForReading.close()
    // It may get the number that has become free.
    let another = Pipe()
    try another.fileHandleForWriting.write(contentsOf: Data("other".utf8))

    try pipe.fileHandleForWriting.write(contentsOf: Data("mine".utf8))
    try pipe.fileHandleForWriting.close()

    #expect(await text(recorder.next(2)) == "mine")
    #expect(recorder.hasEnded)
  }

  @Test func `a folder cannot be read, which is said`() async {
    let descriptor = unsafe open(folder.url.path, O_RDONLY)
    defer { close(descriptor) }

    let recorder = Recorder(DispatchSource.reads(from: descriptor))

    #expect(await recorder.next(2) == [.failure(POSIXError(.EISDIR))])
    #expect(recorder.hasEnded)
  }

  @Test func `a large file comes in pieces, in order`() async throws {
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

  @Test func `nothing stays open of readers that come and go`() async throws {
    let pipe = Pipe()
    let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
    for _ in 0..<scaled(50) {
      for _ in 0..<50 {
        let subscription = reads.subscribe { _ in }
        subscription.invalidate()
      }
      // Cancelled sources close a little later.
      while openDescriptors() > 200 { await Task.yield() }
    }
  }

  private func text(_ updates: [Result<Data, POSIXError>]) -> String {
    updates.map { String(decoding: (try? $0.get()) ?? Data(), as: UTF8.self) }.joined()
  }

  private func openDescriptors() -> Int {
    (0..<Int32(4_096)).count { fcntl($0, F_GETFD) >= 0 }
  }
}

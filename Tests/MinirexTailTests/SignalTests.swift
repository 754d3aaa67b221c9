import Foundation
import TestSupport
import Testing

extension MinirexTailTests {
  @Test func `a signal stops the first read of a file, and its printed lines are counted`()
    async throws
  {
    let log = try folder.write("a1\n", to: "log")
    // Reading the file takes minutes.
    #expect(unsafe truncate(log, 1 << 40) == 0)
    let child = try Child("--match", "a1", log)

    #expect(await child.output.until("a1") == ["a1"])
    child.send(SIGTERM)

    #expect(await child.output.rest().last?.hasPrefix("updates: ") == true)
    #expect(await child.status() == 0)
  }

  @Test(
    .enabled(if: scale >= 1, "ThreadSanitizer holds a signal back while its thread writes"),
    arguments: [SIGINT, SIGTERM])
  func `a signal stops minirex-tail although its output is not read`(signal: Int32) async throws {
    let log = try folder.write(String(repeating: "a line\n", count: 100_000), to: "log")
    let output = Pipe()
    let (reading, writing) = (output.fileHandleForReading, output.fileHandleForWriting)
    for end in [reading, writing] { _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) }
    let program = Bundle.main.bundleURL.appending(path: "minirex-tail").path
    let process = try RunningProcess(
      [program, "--match", "a", log], streams: [try null(), try duplicate(writing), try null()])

    while !isFull(writing) { try await Task.sleep(for: .milliseconds(1)) }
    process.send(signal)

    #expect(await process.status() == 128 + signal)
    withExtendedLifetime(reading) {}
  }

  private func null() throws -> FileHandle {
    try FileHandle(forUpdating: URL(filePath: "/dev/null"))
  }

  private func duplicate(_ handle: FileHandle) throws -> FileHandle {
    let descriptor = fcntl(handle.fileDescriptor, F_DUPFD_CLOEXEC, 0)
    if descriptor < 0 { throw POSIXError(.EMFILE) }
    return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  private func isFull(_ handle: FileHandle) -> Bool {
    var room = pollfd(fd: handle.fileDescriptor, events: Int16(POLLOUT), revents: 0)
    return unsafe poll(&room, 1, 0) == 0
  }
}

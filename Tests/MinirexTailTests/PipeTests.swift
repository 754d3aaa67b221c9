import Foundation
import TestSupport
import Testing

extension MinirexTailTests {
  @Test func `a pipe without a writer is reported, and read beside a file when writers open it`()
    async throws
  {
    let pipe = try makePipe()
    let log = try folder.write("file\n", to: "log")
    let child = try Child("--match", "", pipe, log)

    #expect(
      await child.errors.until("writer") == ["minirex-tail: \(pipe): the pipe has no writer yet"])
    #expect(await child.output.until("file") == ["file"])
    for writer in 1...3 {
      let handle = try FileHandle(forWritingTo: URL(filePath: pipe))
      try handle.write(contentsOf: Data("\(writer) first\n\(writer) last".utf8))
      try handle.close()
      #expect(await child.output.until("last") == ["\(writer) first", "\(writer) last"])
    }
    try folder.append("file\n", to: "log")
    #expect(await child.output.until("file") == ["file"])
    child.send(SIGTERM)

    #expect(await child.output.rest() == summary(lines: 8, bytes: 52, matches: 8))
    #expect(await child.errors.rest() == [])
    #expect(await child.status() == 0)
  }

  @Test func `a pipe is read once, until its writer closes it`() async throws {
    let pipe = try makePipe()
    let writer = try FileHandle(forUpdating: URL(filePath: pipe))
    // Without this flag, the program would itself be a writer.
    _ = fcntl(writer.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let child = try Child("--once", "--match", "", pipe)

    try writer.write(contentsOf: Data("first\n".utf8))
    #expect(await child.output.until("first") == ["first"])
    try writer.write(contentsOf: Data("last".utf8))
    try writer.close()

    #expect(await child.output.rest() == ["last"] + summary(lines: 2, bytes: 10, matches: 2))
    #expect(await child.status() == 0)
  }

  @Test func `a pipe without a writer that is read once is empty, and is reported`()
    async throws
  {
    let pipe = try makePipe()

    let run = try await run("--once", pipe)

    #expect(run.errors == ["minirex-tail: \(pipe): the pipe has no writer"])
    #expect(run.output == summary(lines: 0, bytes: 0))
    #expect(run.status == 0)
  }

  @Test func `a signal ends the reading of a pipe, and its last line is printed without a newline`()
    async throws
  {
    let pipe = try makePipe()
    // Opened for reading as well, so that opening does not block, and the pipe has no end.
    let writer = try FileHandle(forUpdating: URL(filePath: pipe))
    let child = try Child("--match", "a", pipe)

    try writer.write(contentsOf: Data("a1\na2".utf8))
    #expect(await child.output.until("a1") == ["a1"])
    child.send(SIGINT)

    #expect(await child.output.rest() == ["a2"] + summary(lines: 2, bytes: 5, matches: 2))
    #expect(await child.errors.rest() == [])
    #expect(await child.status() == 0)
  }

  private func makePipe() throws -> String {
    let path = folder.path("pipe")
    if unsafe mkfifo(path, 0o600) != 0 { throw POSIXError(.EEXIST) }
    return path
  }
}

import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ReadTaskTests {
  let content = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  @Test func `a file is read with progress in bytes, done and expected`() async throws {
    let folder = try Folder()
    try content.write(to: folder.file("file"))
    let task = folder.file("file").readTask()

    let updates = await Recorder(task).all()

    #expect(try updates.result?.get() == content)
    #expect(updates.progress.map(\.done) == [0, 262_144, 524_288, 786_432, 1_000_000])
    #expect(updates.progress.allSatisfy { $0.expected == 1_000_000 })
    #expect(updates.progress.last?.fraction == 1)
  }

  @Test func `the closure receives each piece before its progress is reported`() async throws {
    let folder = try Folder()
    try content.write(to: folder.file("file"))
    let passed = Shared(0)
    let task = folder.file("file").readTask(into: 0) { count, piece in
      count += piece.count
      passed.value = count
    }
    let reported = Shared<[[Int]]>([])

    let recorder = Recorder(task) { update in
      if case .progress(let progress) = update {
        reported.change { $0.append([progress.done, passed.value]) }
      }
    }

    #expect(try await recorder.all().result?.get() == 1_000_000)
    #expect(reported.value.last == [1_000_000, 1_000_000])
    #expect(reported.value.allSatisfy { $0[0] == $0[1] })
  }

  @Test func `R19 subscribers share one run, cancellation stops it, and the next run restarts`()
    async throws
  {
    let folder = try Folder()
    try content.write(to: folder.file("file"))
    let gate = Gate()
    let isHeld = Gate()
    let runs = Shared(0)
    let pieces = Shared(0)
    let task = folder.file("file").readTask(into: 0) { count, piece in
      if count == 0 { runs.change { $0 += 1 } }
      pieces.change { $0 += 1 }
      count += piece.count
      if runs.value == 1 {
        isHeld.open()
        gate.wait()
      }
    }
    let first = Recorder(task)
    let second = Recorder(task)
    await onQueue { isHeld.wait() }

    first.invalidate()
    second.invalidate()
    #expect(pieces.value == 1)
    let third = Recorder(task)
    gate.open()

    #expect(try await third.all().result?.get() == 1_000_000)
    #expect(try await task.value == 1_000_000)
    #expect(runs.value == 2)
    #expect(pieces.value == 5)
  }

  @Test func `an empty file has an empty result`() async throws {
    let folder = try Folder()
    try Data().write(to: folder.file("file"))

    #expect(try await folder.file("file").readTask().value == Data())
  }

  @Test func `bad input is a failure`() async throws {
    let folder = try Folder()
    let web = try #require(URL(string: "http://localhost/file"))

    for (url, code) in [
      (folder.file("missing"), POSIXErrorCode.ENOENT), (folder.url, .EISDIR), (web, .EINVAL),
    ] {
      let result = await url.readTask().result
      #expect(throws: POSIXError(code)) { try result?.get() }
    }
  }

  @Test func `a path with a zero byte is a failure, even if a shorter path exists`() async throws {
    let folder = try Folder()
    try folder.write("short", to: "file")
    try folder.write("literal", to: "file%00x")

    for url in [
      folder.file("file\0x"), try #require(URL(string: "\(folder.file("file"))%00x")),
    ] {
      let result = await url.readTask().result
      #expect(throws: POSIXError(.EINVAL)) { try result?.get() }
    }
    #expect(try await folder.file("file%00x").readTask().value == Data("literal".utf8))
  }

  @Test func `a URL without a path is a failure`() async throws {
    let result = await (try #require(URL(string: "file:"))).readTask().result
    #expect(throws: POSIXError(.EINVAL)) { try result?.get() }
  }

  #if os(Linux)
  @Test func `a file whose name is not UTF-8 is read`() async throws {
    let folder = try Folder()
    let name = folder.pathThatIsNotUTF8
    close(unsafe open(name, O_CREAT, 0o600))
    let url = try #require(URL(string: "\(folder.url)/bad%FF"))
    try folder.write("other", to: "bad")

    #expect(try await url.readTask().value == Data())
  }
  #endif

  @Test func `a file is read from an offset to its end`() async throws {
    let folder = try Folder()
    let file = folder.file("file")
    try Data("0123456789".utf8).write(to: file)

    let updates = await Recorder(file.readTask(from: 7)).all()

    #expect(try updates.result?.get() == Data("789".utf8))
    #expect(updates.progress.map(\.done) == [0, 3])
    #expect(updates.progress.allSatisfy { $0.expected == 3 })
    #expect(try await file.readTask(from: 9, into: 0) { $0 += $1.count }.value == 1)
    #expect(try await file.readTask(from: 100).value == Data())
    #expect(try await file.readTask(from: .max).value == Data())
  }

  @Test func `a negative offset traps with advice`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = URL(fileURLWithPath: "/etc/hostname").readTask(from: -1)
    }
    #expect(advice(result).contains("'readTask' requires an offset of 0 or more, not -1."))
  }

  @Test func `an offset into a pipe is a failure`() async throws {
    let folder = try Folder()
    let path = folder.file("pipe").path
    #expect(unsafe mkfifo(path, 0o600) == 0)

    let result = await folder.file("pipe").readTask(from: 1).result

    #expect(throws: POSIXError(.ESPIPE)) { try result?.get() }
  }

  #if os(Linux)
  @Test func `reading an idle pipe wakes no thread and takes no processor time`() async throws {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let folder = try Folder()
      let path = folder.file("pipe").path
      #expect(unsafe mkfifo(path, 0o600) == 0)
      let writer = unsafe open(path, O_RDWR)
      // Measures real time: ten wake-ups per second would be five here. A sanitizer adds a
      // thread.
      func switches() -> Int {
        let before = otherThreadsSwitches()
        usleep(500_000)
        return otherThreadsSwitches() - before
      }
      let others = switches()
      let recorder = Recorder(folder.file("pipe").readTask())
      #expect(await recorder.progress { $0.done == 0 } != nil)
      usleep(50_000)

      let before = clock()
      #expect(switches() - others < 3)
      // A loop without a wait is not switched, but takes the pause. In microseconds.
      #expect(clock() - before < 25_000)
      recorder.invalidate()
      close(writer)
      try FileManager.default.removeItem(at: folder.url)
    }
  }
  #endif

  @Test func `a pipe is read until its last writer closes or the run is canceled`()
    async throws
  {
    let folder = try Folder()
    let path = folder.file("pipe").path
    #expect(unsafe mkfifo(path, 0o600) == 0)
    let writer = unsafe open(path, O_RDWR)
    let task = folder.file("pipe").readTask()
    let first = Recorder(task)
    unsafe write(writer, "ab", 2)
    #expect(await first.progress { $0.done == 2 }?.expected == .some(nil))

    first.invalidate()
    let second = Recorder(task)
    #expect(await second.progress { $0.done == 0 } != nil)
    unsafe write(writer, "c", 1)
    close(writer)

    #expect(await second.all().result != nil)
  }

  @Test func `R32 invalidateAndWait returns when the read has stopped`() async throws {
    let folder = try Folder()
    let path = folder.file("pipe").path
    #expect(unsafe mkfifo(path, 0o600) == 0)
    // A read that continues takes the bytes. Then, the test must not wait for them.
    let writer = unsafe open(path, O_RDWR | O_NONBLOCK)
    defer { close(writer) }
    let isReading = Shared(false)
    let subscription = folder.file("pipe").readTask().subscribe(
      success: nil, failure: nil, progress: { _ in isReading.value = true })
    await until { isReading.value }

    await subscription.invalidateAndWait()

    unsafe write(writer, "left", 4)
    var bytes = [UInt8](repeating: 0, count: 8)
    #expect(unsafe read(writer, &bytes, bytes.count) == 4)
  }

  @Test func `200 MB are read within 32 MB of memory`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let folder = try Folder()
      let file = folder.file("file")
      let piece = Data(repeating: 7, count: 1 << 20)
      let whole = scaled(200) << 20
      try Data().write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      for _ in 0..<scaled(200) { try handle.write(contentsOf: piece) }
      try handle.close()
      let before = try #require(peakMemory())

      let count = try await file.readTask(into: 0) { $0 += $1.count }.value

      let growth = try #require(peakMemory()) - before
      #expect(count == whole)
      let limit = 32 << 20
      // A sanitizer retains freed memory.
      #expect(growth < limit || scale < 1, "The memory has grown by \(growth >> 20) MB.")
      try FileManager.default.removeItem(at: folder.url)
    }
  }
}

#if os(Linux)
/// The number of voluntary context switches of the other threads of the process.
private func otherThreadsSwitches() -> Int {
  // `thread-self` links to `PID/task/THREAD`.
  let own = URL(fileURLWithPath: "/proc/thread-self").resolvingSymlinksInPath().lastPathComponent
  let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return threads.filter { $0 != own }.compactMap { thread in
    let status = try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) }
  }.reduce(0, +)
}
#endif

import TestSupport

// Apple platforms report less about a folder, which these tests do not cover yet.
#if os(Linux) || os(Android)
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

/// Serialized, because an overflow of the system's queue affects all watchers.
@Suite(.light, .serialized) struct ChangeTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `a URL other than a file URL is a failure, even if its path exists`()
    async throws
  {
    let folder = try Folder()
    let web = try #require(URL(string: "http://localhost\(folder.url.path)"))
    let changes = Recorder(web.changes())

    #expect(await changes.next() == [.failure(POSIXError(.EINVAL))])
    #expect(changes.hasEnded)
  }

  @Test func `a folder emits the names of created, changed, and removed entries`() async throws {
    let changes = Changes(folder.url)

    try folder.write("a", to: "one")
    #expect(await changes.until(.written, "one").first == FileChange(.created, name: "one"))
    try FileManager.default.moveItem(
      at: folder.url.appending(path: "one"), to: folder.url.appending(path: "two"))
    #expect(await changes.until(.created, "two").contains(FileChange(.removed, name: "one")))
    try FileManager.default.removeItem(at: folder.url.appending(path: "two"))
    await changes.until(.removed, "two")
  }

  @Test func `a file emits its writes and finishes when it is removed`() async throws {
    let file = folder.file("file")
    try folder.write("a", to: "file")
    let changes = Changes(file)

    try folder.append("b", to: "file")
    await changes.until(.written)
    try FileManager.default.removeItem(at: file)
    await changes.until(.removed)

    #expect(await changes.recorder.next(2) == [.failure(POSIXError(.ENOENT))])
    #expect(changes.recorder.hasEnded)
  }

  @Test(arguments: [false, true])
  func `a file that is held open finishes when it is removed or replaced`(
    isReplaced: Bool
  ) async throws {
    let file = folder.file("file")
    try folder.write("a", to: "file")
    let holder = try FileHandle(forUpdating: file)
    let publisher = file.changes()
    let changes = Changes(publisher)

    if isReplaced {
      try folder.write("b", to: "other")
      #expect(unsafe rename(folder.path("other"), file.path) == 0)
    } else {
      try FileManager.default.removeItem(at: file)
    }

    await changes.until(.removed)
    #expect(await changes.recorder.next(2) == [.failure(POSIXError(.ENOENT))])
    #expect(changes.recorder.hasEnded)
    if isReplaced {
      let again = Changes(publisher)
      try folder.append("c", to: "file")
      await again.until(.written)
    } else {
      #expect(Recorder(publisher).updates == [.failure(POSIXError(.ENOENT))])
    }
    try holder.close()
  }

  @Test func `a file that keeps another name is still watched`() async throws {
    let file = folder.file("file")
    try folder.write("a", to: "file")
    try FileManager.default.linkItem(at: file, to: folder.file("link"))
    let holder = try FileHandle(forUpdating: file)
    let changes = Changes(file)

    try FileManager.default.removeItem(at: file)
    await changes.until(.attributes)
    try folder.append("b", to: "link")
    await changes.until(.written)
    try FileManager.default.removeItem(at: folder.file("link"))

    await changes.until(.removed)
    try holder.close()
  }

  @Test func `a file without a name is watched by its descriptor until it is closed`() async throws
  {
    let file = folder.file("file")
    try folder.write("a", to: "file")
    let holder = try FileHandle(forUpdating: file)
    let named = Changes(file)
    try FileManager.default.removeItem(at: file)
    await named.until(.removed)
    let changes = Changes(URL(filePath: "/proc/self/fd/\(holder.fileDescriptor)"))

    try holder.write(contentsOf: Data("b".utf8))
    await changes.until(.written)
    fchmod(holder.fileDescriptor, 0o600)
    await changes.until(.attributes)
    try holder.close()

    await changes.until(.removed)
    #expect(await changes.recorder.next(2) == [.failure(POSIXError(.ENOENT))])
  }

  @Test func `the descriptors of watched files are closed`() async throws {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let folder = try Folder()
      try folder.write("a", to: "first")
      // The descriptor of the system's queue stays open.
      _ = Recorder(folder.file("first").changes())
      let before = openDescriptors()

      for number in 0..<20 {
        let file = folder.file("\(number)")
        try folder.write("a", to: "\(number)")
        let changes = Changes(file)
        if number.isMultiple(of: 2) {
          try FileManager.default.removeItem(at: file)
          await changes.until(.removed)
        } else {
          changes.recorder.invalidate()
        }
      }

      await until { openDescriptors() <= before }
      try FileManager.default.removeItem(at: folder.url)
    }
  }

  @Test func `a path with a zero byte is a failure, even if a shorter path exists`() async throws {
    for url in [
      URL(filePath: "\(folder.url.path)\0x"), try #require(URL(string: "\(folder.url)%00x")),
    ] {
      #expect(Recorder(url.changes()).updates == [.failure(POSIXError(.EINVAL))])
    }
  }

  @Test func `a folder whose name is not UTF-8 is watched`() async throws {
    let name = folder.pathThatIsNotUTF8
    #expect(unsafe mkdir(name, 0o700) == 0)
    let changes = Changes(try #require(URL(string: "\(folder.url)/bad%FF")))

    let entry = Array(name.dropLast()) + Array("/one".utf8CString)
    close(unsafe open(entry, O_CREAT, 0o600))

    await changes.until(.created, "one")
    unsafe unlink(entry)
    unsafe rmdir(name)
    await changes.until(.removed)
  }

  @Test func `R10 subscribing does not wait for the callback of a failed subscription`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let changes = URL(filePath: "/no/such/folder").changes()
      let isInside = Gate()
      let hasSubscribed = Gate()
      onThreads(2) { thread in
        if thread == 0 {
          _ = changes.subscribe { _ in
            isInside.open()
            hasSubscribed.wait()
          }
        } else {
          isInside.wait()
          _ = changes.subscribe { _ in }
          hasSubscribed.open()
        }
      }
    }
  }

  @Test func `removing a watched folder finishes with the reason`()
    async throws
  {
    let inner = folder.url.appending(path: "inner")
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    let publisher = inner.changes()
    let changes = Changes(publisher)

    try FileManager.default.removeItem(at: inner)

    await changes.until(.removed)
    #expect(await changes.recorder.next(2) == [.failure(POSIXError(.ENOENT))])
    #expect(changes.recorder.hasEnded)

    // Nothing is watched until the folder exists again.
    let recorder = Recorder(publisher)
    #expect(recorder.updates == [.failure(POSIXError(.ENOENT))])
    #expect(recorder.hasEnded)
    try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
    let again = Changes(publisher)
    try folder.write("a", to: "inner/one")
    await again.until(.created, "one")
  }

  @Test func `a folder that moves is watched at its new place`() async throws {
    let (from, to) = (folder.url.appending(path: "from"), folder.url.appending(path: "to"))
    try FileManager.default.createDirectory(at: from, withIntermediateDirectories: false)
    let changes = Changes(from)

    try FileManager.default.moveItem(at: from, to: to)
    await changes.until(.moved)
    try folder.write("a", to: "to/one")

    await changes.until(.created, "one")
  }

  @Test func `two publishers of one folder both emit, and one can be canceled`() async throws {
    let one = Changes(folder.url)
    let other = Changes(folder.url)
    try folder.write("a", to: "a")
    await one.until(.created, "a")
    await other.until(.created, "a")

    one.recorder.invalidate()
    try folder.write("b", to: "b")

    await other.until(.created, "b")
    #expect(!one.recorder.updates.contains(.success(FileChange(.created, name: "b"))))
  }

  @Test func `a late subscriber does not receive earlier changes`() async throws {
    for round in 0..<scaled(200) {
      try folder.write("a", to: "before\(round)")
      let changes = Changes(folder.url)
      try folder.write("a", to: "after\(round)")
      #expect(
        await changes.until(.written, "after\(round)").allSatisfy { $0.name != "before\(round)" })
    }
  }

  @Test func `R22 an overflow of the system's queue is reported`() async throws {
    let file = folder.file("file")
    try folder.write("a", to: "file")
    let gate = Gate()
    let changes = Changes(folder.url.changes()) { _ in gate.wait() }
    let limit = try String(
      contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let count = (Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 16_384) + 1_000
    let descriptor = unsafe open(file.path, O_WRONLY)
    for index in 0..<count {
      // Alternate, because the system merges equal events in sequence.
      if index.isMultiple(of: 2) { fchmod(descriptor, 0o600) } else { ftruncate(descriptor, 0) }
    }
    close(descriptor)

    gate.open()

    await changes.until(.missed)
  }
}

/// Collects changes until the expected change, because the system decides how many precede it.
private struct Changes {
  let recorder: Recorder<Result<FileChange, POSIXError>>

  init(_ url: URL) { self.init(url.changes()) }

  init(
    _ publisher: Broadcaster<Result<FileChange, POSIXError>>,
    _ react: @escaping @Sendable (Result<FileChange, POSIXError>) -> Void = { _ in }
  ) {
    recorder = Recorder(publisher, react)
  }

  @discardableResult
  func until(
    _ kind: FileChange.Kind, _ name: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [FileChange] {
    var changes: [FileChange] = []
    while let update = await recorder.next().first, let change = try? update.get() {
      changes.append(change)
      if change == FileChange(kind, name: name) { break }
    }
    #expect(changes.last == FileChange(kind, name: name), sourceLocation: sourceLocation)
    return changes
  }
}
#endif

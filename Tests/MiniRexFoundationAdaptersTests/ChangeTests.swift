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
      #expect(await changes.until(.written, "after\(round)").allSatisfy { $0.name != "before\(round)" })
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

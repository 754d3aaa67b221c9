import TestSupport

// What Apple platforms tell of a folder is less, and has not been seen yet.
#if os(Linux) || os(Android)
  import Foundation
  import MiniRex
  import MiniRexFoundationAdapters
  import MiniRexTesting
  import Testing

  /// One after the other, since what one of them makes the system miss is missed by all.
  @Suite(.serialized, .timeLimit(.minutes(20))) struct ChangeTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `a URL that is not that of a file is a failure, not the local path of that name`()
      async throws
    {
      let folder = try Folder()
      let web = try #require(URL(string: "http://localhost\(folder.url.path)"))
      let changes = Recorder(web.changes())

      #expect(await changes.next() == [.failure(POSIXError(.EINVAL))])
      #expect(changes.hasEnded)
    }

    @Test func `a folder tells by name what has come, changed and gone`() async throws {
      let changes = Changes(folder.url)

      try folder.write("a", to: "one")
      #expect(await changes.until(.written, "one").first == FileChange(.created, name: "one"))
      try FileManager.default.moveItem(
        at: folder.url.appending(path: "one"), to: folder.url.appending(path: "two"))
      #expect(await changes.until(.created, "two").contains(FileChange(.removed, name: "one")))
      try FileManager.default.removeItem(at: folder.url.appending(path: "two"))
      await changes.until(.removed, "two")
    }

    @Test func `a file tells of writing and of its end`() async throws {
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

    @Test func `R10 who subscribes while another is refused does not wait for the callback`() async
    {
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

    @Test func `a folder that is removed while it is watched is the end, with the reason`()
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

      // Nothing is there to be watched, until there is again.
      let recorder = Recorder(publisher)
      #expect(recorder.updates == [.failure(POSIXError(.ENOENT))])
      #expect(recorder.hasEnded)
      try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
      let again = Changes(publisher)
      try folder.write("a", to: "inner/one")
      await again.until(.created, "one")
    }

    @Test func `a folder that moves is watched where it goes`() async throws {
      let (from, to) = (folder.url.appending(path: "from"), folder.url.appending(path: "to"))
      try FileManager.default.createDirectory(at: from, withIntermediateDirectories: false)
      let changes = Changes(from)

      try FileManager.default.moveItem(at: from, to: to)
      await changes.until(.moved)
      try folder.write("a", to: "to/one")

      await changes.until(.created, "one")
    }

    @Test func `two publishers of one folder both hear, and one can leave`() async throws {
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

    @Test func `what is written before a subscriber comes is not told to it`() async throws {
      for round in 0..<scaled(200) {
        try folder.write("a", to: "before\(round)")
        let changes = Changes(folder.url)
        try folder.write("a", to: "after\(round)")
        #expect(await changes.until(.written, "after\(round)").allSatisfy { $0.name != "before" })
      }
    }

    @Test func `R22 when changes come too fast it says that some were missed`() async throws {
      let file = folder.file("file")
      try folder.write("a", to: "file")
      let gate = Gate()
      let changes = Changes(folder.url.changes()) { _ in gate.wait() }
      let limit = try String(
        contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
      let count = (Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 16_384) + 1_000
      let descriptor = unsafe open(file.path, O_WRONLY)
      for index in 0..<count {
        // Equal ones after another would be told as one.
        if index.isMultiple(of: 2) { fchmod(descriptor, 0o600) } else { ftruncate(descriptor, 0) }
      }
      close(descriptor)

      gate.open()

      await changes.until(.missed)
    }
  }

  /// Waits for a change, because how many come before it is for the system to say.
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
    func until(_ kind: FileChange.Kind, _ name: String? = nil) async -> [FileChange] {
      var changes: [FileChange] = []
      while let update = await recorder.next().first, let change = try? update.get() {
        changes.append(change)
        if change == FileChange(kind, name: name) { break }
      }
      #expect(changes.last == FileChange(kind, name: name))
      return changes
    }
  }
#endif

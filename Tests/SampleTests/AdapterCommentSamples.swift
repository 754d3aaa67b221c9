import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Observation
import TestSupport
import Testing

extension Notification.Name {
  fileprivate static let userDidLogIn = Notification.Name("a user has logged in")
  fileprivate static let progressDidChange = Notification.Name("there is progress")
}

@Observable
private final class Model {
  var name = "Ada"
  var age = 36
}

/// The samples in comments of adapters.
@Suite(.light) struct AdapterCommentSamples {
  private let paper = Paper()

  @Test func `notifications are received and posted`() {
    let center = NotificationCenter()
    let logins = center.broadcaster(for: .userDidLogIn) { $0.userInfo?["name"] as? String }
    let recorder = Recorder(logins)
    center.post(name: .userDidLogIn, object: nil, userInfo: ["name": "ada"])
    #expect(recorder.updates == ["ada"])

    let progress = PublishedProperty(0.5)
    let posting = progress.publisher.post(to: .default, as: .progressDidChange)
    #expect(posting.isSubscribed)
    posting.invalidate()
  }

  @MainActor
  @Test func `a published value follows an observable object`() {
    let model = Model()
    let name = publishedValue(of: model, \.name)
    let title = publishedValue(of: model) { "\($0.name), \($0.age)" }
    #expect(name.current() == "Ada")
    #expect(title.current() == "Ada, 36")
  }

  @Test func `a descriptor is read to its end`() async {
    let parsed = BroadcastSource<Data>()
    let recorder = Recorder(parsed.publisher)
    let parse: @Sendable (Data) -> Void = { parsed.broadcast($0) }
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForReading.fileDescriptor

    let subscription = DispatchSource.reads(from: descriptor).subscribe {
      switch $0 {
      case .success(let data): parse(data)
      case .failure(let error): print(error)
      }
    }

    pipe.fileHandleForWriting.write(Data("line\n".utf8))
    #expect(await recorder.next() == [Data("line\n".utf8)])
    subscription.invalidate()
  }

  @Test func `a signal shuts a program down`() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let shutDown: @Sendable () -> Void = { exit(7) }

      let subscription = DispatchSource.signals(SIGTERM, SIGINT).subscribe { _ in shutDown() }

      kill(getpid(), SIGTERM)
      try await Task.sleep(for: .seconds(30))
      subscription.invalidate()
    }
  }

  @Test func `a queue has a timer`() {
    let queue = DispatchQueue(label: "beat")
    let beat = queue.broadcaster(every: .seconds(30), leeway: .seconds(1)).subscribe { print($0) }
    #expect(beat.isSubscribed)
    beat.invalidate()
  }

  @Test func `a folder is watched, a file is read, a program is configured`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let reloads = BroadcastSource<String?>()
    let recorder = Recorder(reloads.publisher)
    let reload: @Sendable (String?) -> Void = { reloads.broadcast($0) }

    let subscription = folder.changes().subscribe { change in
      if case .success(let change) = change { reload(change.name) }
    }
    let log = folder.appending(path: "log")
    try Data("one\ntwo\n".utf8).write(to: log)
    #expect(await recorder.next().count == 1)
    subscription.invalidate()

    let lineCount = log.readTask(into: 0) { count, bytes in
      count += bytes.count { $0 == UInt8(ascii: "\n") }
    }
    #expect(try await lineCount.value == 2)

    let sizeBefore = 4
    let added = log.readTask(from: sizeBefore)
    #expect(try await added.value == Data("two\n".utf8))

    let repository = folder
    let status = Process.task(URL(filePath: "/usr/bin/git"), ["status"]) { process in
      process.currentDirectoryURL = repository
    }
    withExtendedLifetime(status) {}
  }
}

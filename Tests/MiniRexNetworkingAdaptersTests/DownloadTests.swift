import Foundation
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.light) struct DownloadTests {
  let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  @Test func `the file appears when the download is complete`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { [body] connection in
      connection.head("200 OK", "Content-Length: 300000")
      connection.send(body.prefix(100_000))
      gate.wait()
      connection.send(body.dropFirst(100_000))
    }
    defer { server.stop() }
    let folder = try Folder()
    let file = folder.file("file")
    let recorder = Recorder(URLSession.shared.downloadTask(for: server.request(), to: file))

    _ = await recorder.progress { $0.done == 100_000 }
    #expect(!folder.names.contains("file"))
    gate.open()
    let updates = await recorder.all()

    #expect(try updates.result?.get() == file)
    #expect(updates.progress.last == TransferProgress(done: 300_000, expected: 300_000))
    #expect(folder.names == ["file"])
    #expect(try Data(contentsOf: file) == body)
  }

  @Test func `only a complete download replaces an existing file`() async throws {
    let server = try LoopbackServer { [body] connection in
      switch connection.path {
      case "/whole": connection.answer(body: body)
      case "/cut":
        connection.head("200 OK", "Content-Length: 1000000")
        connection.send(body)
      default: connection.answer("410 Gone", body: body)
      }
    }
    defer { server.stop() }
    let folder = try Folder()
    let file = folder.file("file")
    try Data("old".utf8).write(to: file)

    for path in ["/cut", "/gone"] {
      let result = await URLSession.shared.downloadTask(for: server.request(path), to: file).result
      #expect(throws: TransferFailure.self) { try result?.get() }
      #expect(folder.names == ["file"])
      #expect(try Data(contentsOf: file) == Data("old".utf8))
    }
    _ = try await URLSession.shared.downloadTask(for: server.request("/whole"), to: file).value

    #expect(folder.names == ["file"])
    #expect(try Data(contentsOf: file) == body)
  }

  @Test func `an impossible destination fails before the request is sent`() async throws {
    let server = try LoopbackServer { $0.answer(body: Data()) }
    defer { server.stop() }
    let folder = try Folder()
    try Data().write(to: folder.file("file"))
    let web = try #require(URL(string: "http://localhost/file"))

    for (place, code) in [
      (folder.url, POSIXErrorCode.EISDIR),
      (folder.file("missing/file"), .ENOENT),
      (folder.file("file/file"), .ENOTDIR),
      (web, .EINVAL),
      (folder.file("new\0x"), .EINVAL),
      (try #require(URL(string: "\(folder.file("new"))%00x")), .EINVAL),
      (try #require(URL(string: "file:")), .EINVAL),
    ] {
      let result = await URLSession.shared.downloadTask(for: server.request(), to: place).result
      #expect(result?.fileError?.code == code)
    }
    #expect(server.acceptedConnections == 0)
    #expect(folder.names == ["file"])
  }

  #if os(Linux)
  @Test func `a download appears under a name that is not UTF-8`() async throws {
    let server = try LoopbackServer { [body] in $0.answer(body: body) }
    defer { server.stop() }
    let folder = try Folder()
    let file = try #require(URL(string: "\(folder.url)/bad%FF"))

    let result = try await URLSession.shared.downloadTask(for: server.request(), to: file).value

    #expect(result == file)
    #expect(try await file.readTask().value == body)
    #expect(folder.names.count == 1)
  }
  #endif

  @Test func `a folder created at the destination during the download is a failure`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { connection in
      connection.head("200 OK", "Content-Length: 20")
      connection.send(Data(count: 10))
      gate.wait()
      connection.send(Data(count: 10))
    }
    defer { server.stop() }
    let folder = try Folder()
    let file = folder.file("file")
    let recorder = Recorder(URLSession.shared.downloadTask(for: server.request(), to: file))
    _ = await recorder.progress { $0.done == 10 }

    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    gate.open()

    #expect(await recorder.all().result?.fileError?.code == .EISDIR)
    #expect(folder.names == ["file"])
  }

  @Test func `canceling a download removes its partial file`() async throws {
    let server = try LoopbackServer { [body] connection in
      connection.head("200 OK", "Content-Length: 1000000")
      connection.send(body)
      connection.waitForEnd()
    }
    defer { server.stop() }
    let folder = try Folder()
    let task = URLSession.shared.downloadTask(for: server.request(), to: folder.file("file"))
    let recorder = Recorder(task)
    _ = await recorder.progress { $0.done == 300_000 }
    #expect(folder.names.count == 1)

    recorder.invalidate()

    await until { folder.names.isEmpty && server.openConnections == 0 }
  }

  @Test func `a slow subscriber does not block the download and receives the latest progress`()
    async throws
  {
    let size = 4 << 20
    let hasSent = Shared(false)
    let server = try LoopbackServer { connection in
      connection.answer(body: Data(count: size))
      connection.waitForEnd()
      hasSent.value = true
    }
    defer { server.stop() }
    let folder = try Folder()
    let gate = Gate()
    let progress = Shared<[TransferProgress]>([])
    let task = URLSession.shared.downloadTask(for: server.request(), to: folder.file("file"))
    let subscription = task.subscribe(
      success: nil, failure: nil,
      progress: { amount in
        progress.change { $0.append(amount) }
        gate.wait()
      })

    await until { hasSent.value && folder.names == ["file"] }
    gate.open()
    _ = try await task.value

    #expect(progress.value.count <= 2)
    #expect(progress.value.last == TransferProgress(done: size, expected: size))
    withExtendedLifetime(subscription) {}
  }

  @Test func `R32 invalidateAndWait returns after the hidden file of a download is removed`()
    async throws
  {
    let server = try LoopbackServer { connection in
      connection.head("200 OK", "Content-Length: 20")
      connection.send(Data(count: 10))
      connection.waitForEnd()
    }
    defer { server.stop() }
    let folder = try Folder()

    for _ in 0..<scaled(100) {
      let hasBegun = Shared(false)
      let download = URLSession.shared.downloadTask(for: server.request(), to: folder.file("file"))
        .subscribe { update in
          if case .progress(let amount) = update, amount.done == 10 { hasBegun.value = true }
        }
      await until { hasBegun.value }
      await download.invalidateAndWait()
      #expect(folder.names.isEmpty)
    }
  }

  @Test func `R32 a canceled Swift task returns after the hidden file is removed`()
    async throws
  {
    let server = try LoopbackServer { connection in
      connection.head("200 OK", "Content-Length: 20")
      connection.send(Data(count: 10))
      connection.waitForEnd()
    }
    defer { server.stop() }
    let folder = try Folder()

    for _ in 0..<scaled(100) {
      let download = URLSession.shared.downloadTask(for: server.request(), to: folder.file("file"))
      let waiting = Task { await download.result }
      await until { !folder.names.isEmpty }
      waiting.cancel()
      _ = await waiting.finished()
      #expect(folder.names.isEmpty)
    }
  }

  @Test func `R32 a program that is stopped removes its hidden file`() async throws {
    let folder = try Folder()
    await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
      mustEnd()
      let isStopping = Shared(false)
      let server = try LoopbackServer { connection in
        connection.head("200 OK", "Content-Length: 20")
        connection.send(Data(count: 10))
        // Repeat until the signal arrives: the handler may not be installed yet.
        while connection.send(Data(count: 0)), !isStopping.value {
          kill(getpid(), SIGINT)
          Thread.sleep(forTimeInterval: 0.001)
        }
        connection.waitForEnd()
      }
      let harmless = DispatchSource.signals(SIGINT).subscribe { _ in }
      let session = URLSession.shared
      let request = server.request()
      let destination = URL(filePath: path).appending(path: "file")

      let stop = DispatchSource.signals(SIGTERM, SIGINT).first()
      let download = session.downloadTask(for: request, to: destination).subscribe { print($0) }
      _ = await stop.result
      await download.invalidateAndWait()
      isStopping.value = true
      withExtendedLifetime(harmless) { exit(0) }
    }
    #expect(folder.names.isEmpty)
  }

  @Test func `200 MB are loaded within 32 MB of memory`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let size = 1 << 20
      let count = scaled(200)
      let server = try LoopbackServer { connection in
        let piece = Data(repeating: 7, count: size)
        connection.head("200 OK", "Content-Length: \(connection.path == "/" ? size * count : size)")
        for _ in 0..<(connection.path == "/" ? count : 1) { connection.send(piece) }
      }
      let folder = try Folder()
      let file = folder.file("file")
      func load(_ path: String) async throws -> TransferProgress? {
        let task = URLSession.shared.downloadTask(for: server.request(path), to: file)
        let latest = Shared<TransferProgress?>(nil)
        let subscription = task.subscribe(
          success: nil, failure: nil, progress: { latest.value = $0 })
        _ = try await task.value
        withExtendedLifetime(subscription) {}
        return latest.value
      }
      _ = try await load("/small")
      let before = try #require(peakMemory())

      let progress = try await load("/")

      let growth = try #require(peakMemory()) - before
      let whole = size * count
      #expect(progress == TransferProgress(done: whole, expected: whole))
      let written = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
      #expect(written == whole)
      let limit = 32 << 20
      // A sanitizer retains freed memory.
      #expect(growth < limit || scale < 1, "The memory has grown by \(growth >> 20) MB.")
      server.stop()
      try FileManager.default.removeItem(at: folder.url)
    }
  }

  @Test func `100 transfers canceled at different instants leave no file, task, or descriptor`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let server = try LoopbackServer { connection in
        connection.head("200 OK", "Content-Length: 1000000")
        connection.send(Data(count: 200_000))
        if connection.path == "/whole" { connection.send(Data(count: 800_000)) }
        connection.waitForEnd()
      }
      let folder = try Folder()
      _ = try await URLSession.shared.dataTask(for: server.request("/whole")).value
      await until { server.openConnections == 0 }
      let before = openDescriptors()
      var generator = SystemRandomNumberGenerator()

      let count = scaled(100)
      for index in 0..<count {
        // The first half completes during the cancellation, the second half runs one after the
        // other.
        let isBurst = index < count / 2
        let path = isBurst || index.isMultiple(of: 2) ? "/whole" : "/"
        let task = URLSession.shared.downloadTask(
          for: server.request(path), to: folder.file("\(index)"))
        let recorder = Recorder(task)
        switch isBurst ? 0 : Int.random(in: 0..<4, using: &generator) {
        case 0: break
        case 1: await Task.yield()
        case 2: _ = await recorder.next()
        default: _ = await recorder.progress { $0.done >= 100_000 }
        }
        recorder.invalidate()
      }

      await until { server.openConnections == 0 }
      await until { folder.names.allSatisfy { !$0.hasPrefix(".") } }
      for name in folder.names {
        #expect(try Data(contentsOf: folder.file(name)).count == 1_000_000)
      }
      // A transfer has its file open until it is released.
      await until { openDescriptors() <= before }
      server.stop()
      try FileManager.default.removeItem(at: folder.url)
    }
  }
}

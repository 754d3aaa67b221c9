import Foundation
import MiniRex
import MiniRexFoundationAdapters
import TestSupport
import Testing

@Suite(.light) struct AdapterBackpressureTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `F15 the limit of a dispatch and the limit behind it both hold`() async {
    let source = BroadcastSource<Int>()
    let queue = DispatchQueue(label: "test")
    queue.suspend()
    let values = source.publisher.receive(on: queue, buffering: .suspending(2))
      .values(.suspending(5))
    let line = #line - 2
    let sent = Shared(0)
    let task = Task {
      for number in 0..<20 {
        try await source.send(number)
        sent.increment()
      }
    }
    await until { sent.value == 2 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(sent.value == 2)
    #expect(source.slowSubscribers.map(\.place.line) == [line])
    queue.resume()
    // An update moves on before its send returns, and before it stops counting here.
    await until {
      values.bufferedCount == 5 && sent.value == 5
        && source.slowSubscribers.map(\.place.line) == [line + 1]
    }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(sent.value == 5)
    #expect(source.slowSubscribers.map(\.place.line) == [line + 1])
    var received: [Int] = []
    var iterator = values.makeAsyncIterator()
    for _ in 0..<20 { if let number = await iterator.next() { received.append(number) } }
    #expect(received == Array(0..<20))
    _ = await task.result
  }

  @Test(arguments: [true, false])
  func `F1 F15 an update that moves on still takes its room`(isKept: Bool) async {
    let source = BroadcastSource<Int>()
    let (hasLeft, mayArrive) = (Shared(false), DispatchSemaphore(value: 0))
    let values = source.publisher.receive(
      on: DispatchQueue(label: "test"), buffering: .suspending(8)
    )
    .filter { number in
      guard number == 3 else { return true }
      hasLeft.value = true
      mayArrive.waitAtMost()
      return isKept
    }
    .values(.suspending(5))
    for number in 0..<3 { source.broadcast(number) }
    await until { values.bufferedCount == 3 }
    source.broadcast(3)
    await until { hasLeft.value }
    source.broadcast(4)
    #expect(!source.offer(5))
    #expect(source.slowSubscribers.isEmpty)
    mayArrive.signal()

    if isKept {
      await until { values.bufferedCount == 5 && source.slowSubscribers.count == 1 }
      #expect(!source.offer(5))
    } else {
      await until { source.offer(5) }
    }
    source.end()
    var received: [Int] = []
    for await number in values { received.append(number) }
    #expect(received == (isKept ? [0, 1, 2, 3, 4] : [0, 1, 2, 4, 5]))
  }

  @Test func `F1 a queued update of a contended operator still takes its room`() async {
    let (one, two) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let (reached, mayPass) = (Shared(0), DispatchSemaphore(value: 0))
    let values = one.publisher.merge(with: two.publisher)
      .filter { number in
        guard number == 2 || number == 3 else { return true }
        reached.value = number
        mayPass.waitAtMost()
        return true
      }
      .values(.suspending(5))
    for number in 0..<2 { one.broadcast(number) }
    let delivering = Task { await onQueue { one.broadcast(2) } }
    await until { reached.value == 2 }
    two.broadcast(3)
    mayPass.signal()
    await until { reached.value == 3 }
    two.broadcast(4)
    #expect(!two.offer(5))
    mayPass.signal()

    await delivering.finished()
    #expect(values.bufferedCount == 5 && !two.offer(5))
  }

  @Test func `F1 a queued update of flatMap still takes its room while it starts`() async {
    let (source, first) = (BroadcastSource<Int>(), BroadcastSource<Int>())
    let (hasStarted, mayPass) = (Shared(false), DispatchSemaphore(value: 0))
    let values = source.publisher
      .flatMap(limit: 1) { number -> Broadcaster<Int> in
        if number == 0 { return first.publisher }
        if number == 1 {
          hasStarted.value = true
          mayPass.waitAtMost()
        }
        return .sequence([number])
      }
      .values(.suspending(5))
    for number in 0..<4 { source.broadcast(number) }
    first.broadcast(0)
    let ending = Task { await onQueue { first.end() } }
    await until { hasStarted.value }
    source.broadcast(4)
    #expect(!source.offer(5))
    mayPass.signal()

    await ending.finished()
    #expect(values.bufferedCount == 5 && !source.offer(5))
  }

  @Test func `F18 a pipe is read no faster than its subscriber reads`() async throws {
    let pipe = Pipe()
    let values = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
      .values(.suspending(2))
    let written = Shared(0)
    let expected = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let writer = Task.detached {
      await onQueue {
        for start in stride(from: 0, to: expected.count, by: 10_000) {
          let end = min(start + 10_000, expected.count)
          try? pipe.fileHandleForWriting.write(contentsOf: expected[start..<end])
          written.value = end
        }
        try? pipe.fileHandleForWriting.close()
      }
    }
    await until { values.bufferedCount == 2 && written.value > 65_536 }
    try? await Task.sleep(for: .milliseconds(20))
    #expect(values.bufferedCount == 2)
    // Two pieces, the pipe, and the piece that is being written.
    #expect(written.value <= 3 * 65_536 + 10_000)
    var received = Data()
    for await piece in values { received += try piece.get() }
    #expect(received == expected)
    await writer.finished()
  }

  @Test func `F18 cancellation during a stall takes no byte`() async throws {
    let pipe = Pipe()
    let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
    let values = reads.values(.suspending(1))
    try pipe.fileHandleForWriting.write(contentsOf: Data("a".utf8))
    await until { values.bufferedCount == 1 }
    try pipe.fileHandleForWriting.write(contentsOf: Data("b".utf8))
    try? await Task.sleep(for: .milliseconds(10))
    values.invalidate()
    try? await Task.sleep(for: .milliseconds(10))
    let later = reads.values(.suspending(1))
    var iterator = later.makeAsyncIterator()
    #expect(try await iterator.next()?.get() == Data("b".utf8))
  }

  @Test func `F18 canceling a stalled subscriber lets the reading continue`() async throws {
    let pipe = Pipe()
    let reads = DispatchSource.reads(from: pipe.fileHandleForReading.fileDescriptor)
    let other = reads.values(.unbounded)
    let stalled = reads.values(.suspending(1))
    try pipe.fileHandleForWriting.write(contentsOf: Data("a".utf8))
    await until { stalled.bufferedCount == 1 }
    try pipe.fileHandleForWriting.write(contentsOf: Data("b".utf8))
    try? await Task.sleep(for: .milliseconds(10))
    #expect(other.bufferedCount == 1)
    stalled.invalidate()
    await until { other.bufferedCount == 2 }
    #expect(other.bufferedCount == 2)
  }

  @Test func `F18 a file is read no faster than its subscriber reads`() async throws {
    let file = folder.url.appending(path: "large")
    let expected = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try expected.write(to: file)
    let processed = Shared(0)
    let task = file.readTask(into: Data()) { result, piece in
      result.append(piece)
      processed.increment()
    }
    let values = task.values(.suspending(3))
    await until { values.bufferedCount == 3 }
    try? await Task.sleep(for: .milliseconds(10))
    #expect(processed.value <= 3)
    var result: Data?
    for await update in values {
      if case .finished(let read) = update { result = try read.get() }
    }
    #expect(result == expected)
  }

  #if os(Linux) || os(macOS)
  @Test func `F19 a child process blocks while its lines are not read`() async throws {
    let marker = folder.url.appending(path: "done")
    let script = """
      i=0
      while [ $i -lt 20000 ]; do echo "a line of some length, number $i"; i=$((i+1)); done
      touch '\(marker.path())'
      """
    let task = Process.task(URL(filePath: "/bin/sh"), ["-c", script])
    let values = task.values(.suspending(10))
    await until { values.bufferedCount == 10 }
    try? await Task.sleep(for: .milliseconds(300))
    #expect(values.bufferedCount == 10)
    #expect(!FileManager.default.fileExists(atPath: marker.path()))
    var lines = 0
    var exit: ProcessExit?
    for await update in values {
      switch update {
      case .progress(let line):
        #expect(line == .output("a line of some length, number \(lines)"))
        lines += 1
      case .finished(let result): exit = try result.get()
      }
    }
    #expect(lines == 20_000)
    #expect(exit == .code(0))
    #expect(FileManager.default.fileExists(atPath: marker.path()))
  }

  @Test func `F19 cancellation terminates a blocked child process`() async throws {
    let task = Process.task(URL(filePath: "/usr/bin/yes"))
    let values = task.values(.suspending(1))
    await until { values.bufferedCount == 1 }
    let subscription = task.subscribe { _ in }
    values.invalidate()
    await subscription.invalidateAndWait()
  }
  #endif
}

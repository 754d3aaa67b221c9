import TestSupport

#if os(Linux) || os(macOS)
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

@Suite(.heavy) struct ProcessTaskTests {
  typealias ProcessTask = ProgressiveTask<ProcessLine, ProcessExit, CocoaError>
  typealias Update = TaskUpdate<ProcessLine, ProcessExit, CocoaError>

  func shell(
    _ script: String, configure: @escaping @Sendable (Process) -> Void = { _ in }
  ) -> ProcessTask {
    Process.task(URL(fileURLWithPath: "/bin/sh"), ["-c", script], configure: configure)
  }

  /// Returns the lines and the result that follows them.
  func outcome(of task: ProcessTask) async -> ([ProcessLine], Result<ProcessExit, CocoaError>?) {
    let recorder = Recorder(task)
    var lines: [ProcessLine] = []
    while let update = await recorder.next().first {
      switch update {
      case .progress(let line): lines.append(line)
      case .finished(let result): return (lines, result)
      }
    }
    return (lines, nil)
  }

  @Test func `the lines arrive in order, followed by the exit code`() async throws {
    let (lines, result) = await outcome(of: shell("echo one && echo && printf three && exit 3"))

    #expect(lines == [.output("one"), .output(""), .output("three")])
    #expect(try result?.get() == .code(3))
  }

  @Test func `progress distinguishes standard output from standard error`() async throws {
    let (lines, result) = await outcome(of: shell("echo good && echo bad >&2"))

    #expect(Set(lines) == [.output("good"), .error("bad")])
    #expect(lines.map(\.text).sorted() == ["bad", "good"])
    #expect(try result?.get() == .code(0))
  }

  @Test func `a signal that stops the process is its result`() async throws {
    let (_, result) = await outcome(of: shell("kill -KILL $$"))

    #expect(try result?.get() == .signal(SIGKILL))
  }

  @Test func `every line of a long output arrives before the result`() async throws {
    let count = scaled(20_000)
    let (lines, result) = await outcome(of: shell("seq \(count)"))

    #expect(lines == (1...count).map { .output(String($0)) })
    #expect(try result?.get() == .code(0))
  }

  @Test func `a line without an end arrives in pieces`() async throws {
    let (lines, _) = await outcome(of: shell("head -c 2500000 /dev/zero | tr '\\0' x && echo y"))

    #expect(lines.map(\.text.count) == [1_048_576, 1_048_576, 402_849])
    #expect(lines.last?.text.hasSuffix("xy") == true)
  }

  @Test func `invalid UTF-8 is repaired`() async {
    let (lines, _) = await outcome(of: shell("printf 'a\\377b\\n'"))

    #expect(lines == [.output("a\u{FFFD}b")])
  }

  @Test func `the closure configures the process, whose standard input is empty by default`()
    async
  {
    let task = shell("echo $COLOR && pwd && cat && echo end") { process in
      process.environment = ["COLOR": "green", "PATH": "/usr/bin:/bin"]
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
    }

    let (lines, _) = await outcome(of: task)

    #expect(lines == [.output("green"), .output("/"), .output("end")])
  }

  @Test func `R19 all subscribers share one run, and a late subscriber starts another`()
    async throws
  {
    let folder = try Folder()
    let gate = folder.file("gate")
    let mark = folder.file("runs")
    let task = shell(
      """
      echo run >> \(mark.path)
      echo ready
      while [ ! -e \(gate.path) ]; do sleep 0.01; done
      """)
    let runs = { try String(contentsOf: mark, encoding: .utf8).split(separator: "\n").count }

    let first = Recorder(task)
    let second = Recorder(task)
    _ = await first.next()
    #expect(try runs() == 1)
    first.invalidate()
    second.invalidate()
    try Data().write(to: gate)

    let third = Recorder(task)
    let updates = await third.next(2)
    #expect(try updates.last?.finalResult?.get() == .code(0))
    #expect(try runs() == 2)
    #expect(try await task.value == .code(0))
    #expect(try runs() == 2)
  }

  @Test
  func `R19 canceling the last subscription sends SIGTERM, and the process may still write`()
    async throws
  {
    let folder = try Folder()
    let ended = folder.file("ended")
    let task = shell(
      """
      trap 'echo bye; echo bye >&2; echo term > \(ended.path).new
        mv \(ended.path).new \(ended.path); exit' TERM
      echo ready
      while true; do sleep 0.01; done
      """)
    let recorder = Recorder(task)
    _ = await recorder.next()

    recorder.invalidate()

    await until { folder.names == ["ended"] }
    #expect(try String(contentsOf: ended, encoding: .utf8) == "term\n")
    #expect(recorder.updates.count == 1)
  }

  @Test func `a subscriber that blocks the lines does not delay the exit`() async throws {
    let folder = try Folder()
    let ended = folder.file("ended")
    let isHeld = Gate()
    let gate = Gate()
    let task = shell(
      """
      trap 'touch \(ended.path); exit' TERM
      echo ready
      while true; do sleep 0.01; done
      """)
    let subscription = task.subscribe(
      success: nil, failure: nil,
      progress: { _ in
        isHeld.open()
        gate.wait()
      })
    await onQueue { isHeld.wait() }

    subscription.invalidate()

    await until { folder.names == ["ended"] }
    gate.open()
  }

  @Test func `the task does not wait for children that keep the output open`() async throws {
    let folder = try Folder()
    let pid = folder.file("pid")
    let task = shell("sleep 1000 & echo $! > \(pid.path) && echo started")

    let (lines, result) = await outcome(of: task)

    #expect(lines == [.output("started")])
    #expect(try result?.get() == .code(0))
    let child = try String(contentsOf: pid, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(kill(try #require(Int32(child)), SIGKILL) == 0)
  }

  @Test func `a child that writes endlessly does not delay the result`() async throws {
    let folder = try Folder()
    let pid = folder.file("pid")
    let task = shell("yes $(printf %0500d 1) & echo $! > \(pid.path)")

    let result = await task.result

    #expect(try result?.get() == .code(0))
    let child = try String(contentsOf: pid, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    kill(try #require(Int32(child)), SIGKILL)
  }

  @Test(arguments: ["/no/such/program", "/etc/hostname", "/tmp", ""])
  func `a program that cannot be started is a failure`(_ path: String) async {
    let task = Process.task(URL(fileURLWithPath: path))

    let result = await task.result

    #expect(throws: CocoaError.self) { try result?.get() }
  }

  @Test func `every kind of bad input is a failure`() async throws {
    let web = Process.task(try #require(URL(string: "http://localhost/bin/ls")))
    let folder = shell("true") {
      $0.currentDirectoryURL = URL(fileURLWithPath: "/no/such/folder")
    }

    for task in [web, folder] {
      let result = await task.result
      #expect(throws: CocoaError.self) { try result?.get() }
    }
  }

  @Test func `a program reads the pipe that is its standard input`() async throws {
    let input = Pipe()
    let task = shell("cat && echo end") { $0.standardInput = input }

    try input.fileHandleForWriting.write(contentsOf: Data("one\ntwo".utf8))
    try input.fileHandleForWriting.close()

    #expect(await outcome(of: task).0.map(\.text) == ["one", "twoend"])
  }

  @Test func `a program starts with no blocked signal and three descriptors`() async {
    // The shell inherits three descriptors only. `ls` opens the fourth.
    let (lines, _) = await outcome(of: shell("grep SigBlk /proc/self/status && ls /proc/self/fd"))

    #expect(lines.map(\.text) == ["SigBlk:\t0000000000000000", "0", "1", "2", "3"])
  }

  @Test func `a program is reaped when it exits, even while its children run`() async throws {
    let (lines, _) = await outcome(of: shell("echo $$; sleep 1000 & echo $!"))

    let numbers = lines.compactMap { Int32($0.text) }
    #expect(numbers.count == 2)
    #expect(kill(numbers[0], 0) == -1 && errno == ESRCH)
    #expect(kill(numbers[1], SIGKILL) == 0)
  }

  @Test func `R32 invalidateAndWait returns after the program has been reaped`() async throws {
    let task = shell(
      """
      trap 'sleep 0.1; exit' TERM
      echo $$
      while true; do sleep 0.01; done
      """)
    let number = Shared<Int32?>(nil)
    let subscription = task.subscribe(
      success: nil, failure: nil, progress: { number.value = Int32($0.text) })
    await until { number.value != nil }

    await subscription.invalidateAndWait()

    let child = try #require(number.value)
    #expect(kill(child, 0) == -1)
  }

  @Test func `the exit of a program that other code has reaped is a failure`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      signal(SIGCHLD, SIG_IGN)

      let result = await ProcessTaskTests().shell("exit 3").result

      let failure = #expect(throws: CocoaError.self) { try result?.get() }
      let reason = unsafe failure?.userInfo[NSUnderlyingErrorKey] as? POSIXError
      #expect(reason == POSIXError(.ECHILD))
    }
  }

  @Test func `programs that exit before they are read lose no line and no descriptor`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let suite = ProcessTaskTests()
      _ = await suite.shell("true").result
      let before = openDescriptors()

      for width in [1, 8] {
        await withTaskGroup { group in
          for _ in 0..<width {
            group.addTask {
              for _ in 0..<scaled(400) / width {
                let echo = Process.task(URL(fileURLWithPath: "/bin/echo"), ["line"])
                let (lines, result) = await suite.outcome(of: echo)
                #expect(lines == [.output("line")])
                #expect((try? result?.get()) == .code(0))
              }
            }
          }
        }
      }

      await until { openDescriptors() <= before }
    }
  }

  @Test func `programs canceled within 2 ms of their start leave no process and no descriptor`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let task = Process.task(URL(fileURLWithPath: "/bin/sleep"), ["1000"])
      _ = await ProcessTaskTests().shell("true").result
      let before = openDescriptors()

      onThreads(8) { _ in
        for _ in 0..<scaled(50) {
          let subscription = task.subscribe { _ in }
          usleep(.random(in: 0..<2_000))
          subscription.invalidate()
        }
      }

      // `waitpid` fails if the process has no child, neither running nor zombie.
      await until { waitpid(-1, nil, WNOHANG) < 0 && openDescriptors() <= before }
    }
  }

  @Test func `40 runs canceled at different instants leave no process and no descriptor`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let suite = ProcessTaskTests()
      var generator = SystemRandomNumberGenerator()
      let folder = try Folder()
      let path = folder.url.path
      let task = suite.shell("echo $$ > \(path)/$$ && echo ready && exec sleep 1000")
      _ = await suite.shell("true").result
      let before = openDescriptors()

      for _ in 0..<scaled(40) {
        let recorder = Recorder(task)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: break
        case 1: await Task.yield()
        default: _ = await recorder.next()
        }
        recorder.invalidate()
      }

      await until {
        folder.names.allSatisfy { name in Int32(name).map { kill($0, 0) != 0 } ?? true }
      }
      await until { openDescriptors() <= before }
      try FileManager.default.removeItem(at: folder.url)
    }
  }
}
#endif

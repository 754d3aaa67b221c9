import TestSupport

#if os(Linux) || os(macOS)
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

@Suite(.light) struct ProcessTaskTests {
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

  @Test func `a long line is cut between two characters`() async {
    // Characters of 2, 3, 8 (a flag), and 18 bytes (a family), at each distance from the cut.
    for text in ["é", "e\u{301}", "🇩🇪", "👨‍👩‍👧"] {
      for prefix in ["x", "xy"] {
        let count = 1_500_000 / text.utf8.count
        let awk =
          "BEGIN { printf \"\(prefix)\"; while (n++ < \(count)) printf \"\(text)\"; print \"\" }"
        let (lines, _) = await outcome(of: Process.task(URL(filePath: "/usr/bin/awk"), [awk]))

        let pieces = lines.map(\.text)
        let whole = prefix + String(repeating: text, count: count)
        // Comparing strings, or printing them after a failure, would take seconds.
        let isWhole = pieces.joined().utf8.elementsEqual(whole.utf8)
        #expect(isWhole)
        #expect(pieces.count == 2)
        #expect(pieces.allSatisfy { $0.utf8.count <= 1_048_576 })
        #expect(pieces.map(\.count).reduce(0, +) == prefix.count + count)
      }
    }
  }

  @Test func `invalid UTF-8 at a cut is repaired as elsewhere`() async {
    // An incomplete scalar of four bytes is repaired as one, and stray bytes are repaired singly.
    for (bytes, repaired) in [("\\360\\237\\230", "\u{FFFD}"), ("\\200", "\u{FFFD}")] {
      for length in [1_048_571, 1_048_572, 1_048_575] {
        let (lines, _) = await outcome(
          of: shell("head -c \(length) /dev/zero | tr '\\0' x; printf '\(bytes)\(bytes)end\\n'"))

        let whole = String(repeating: "x", count: length) + repaired + repaired + "end"
        let isWhole = lines.map(\.text).joined().utf8.elementsEqual(whole.utf8)
        #expect(isWhole)
      }
    }
  }

  @Test func `a line ending in CR LF has neither`() async {
    let (lines, _) = await outcome(of: shell("printf 'one\\r\\n\\r\\ntwo\\rthree\\r\\r\\nfour\\r'"))

    #expect(lines.map(\.text) == ["one", "", "two\rthree\r", "four\r"])
  }

  @Test(arguments: [1_048_575, 1_048_576, 1_048_577, 2_097_152], ["\\n", "\\r\\n", ""])
  func `a line of the maximum length is one piece, with each line ending`(
    _ length: Int, _ ending: String
  ) async {
    let (lines, _) = await outcome(
      of: shell("head -c \(length) /dev/zero | tr '\\0' x; printf '\(ending)'; printf 'end\\n'"))

    let total = length + (ending.isEmpty ? 3 : 0)
    var pieces = [Int](repeating: 1_048_576, count: total / 1_048_576)
    if !total.isMultiple(of: 1_048_576) { pieces.append(total % 1_048_576) }
    if !ending.isEmpty { pieces.append(3) }
    #expect(lines.map(\.text.utf8.count) == pieces)
  }

  @Test func `a character longer than a piece is cut between two scalars`() async {
    let marks = 700_000
    let awk = "BEGIN { printf \"e\"; while (n++ < \(marks)) printf \"\u{301}\"; print \"!\" }"
    let (lines, _) = await outcome(of: Process.task(URL(filePath: "/usr/bin/awk"), [awk]))

    let scalars = lines.flatMap(\.text.unicodeScalars)
    let isWhole = scalars == ["e"] + Array(repeating: "\u{301}", count: marks) + ["!"]
    #expect(isWhole)
    #expect(lines.allSatisfy { $0.text.utf8.count <= 1_048_576 })
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

  @Test func `text with a zero byte is a failure, and starts no program`() async throws {
    let folder = try Folder()
    let mark = folder.file("mark")
    let touch = URL(filePath: "/usr/bin/touch")
    let tasks = [
      Process.task(URL(filePath: "/bin/sh\0x"), ["-c", "touch \(mark.path)"]),
      Process.task(try #require(URL(string: "file:///bin/sh%00x")), ["-c", "touch \(mark.path)"]),
      Process.task(touch, ["\(mark.path)\0x"]),
      Process.task(touch, [mark.path, "\0"]),
      Process.task(touch, [mark.path]) { $0.environment = ["COLOR": "green\0x"] },
      Process.task(touch, [mark.path]) { $0.environment = ["COLOR\0x": "green"] },
    ]

    for task in tasks {
      let result = await task.result
      let failure = #expect(throws: CocoaError.self) { try result?.get() }
      let reason = unsafe failure?.userInfo[NSUnderlyingErrorKey] as? POSIXError
      #expect(reason == POSIXError(.EINVAL))
    }
    #expect(folder.names == [])
  }

  @Test func `a program whose name is not UTF-8 runs`() async throws {
    let folder = try Folder()
    let descriptor = unsafe open(folder.pathThatIsNotUTF8, O_CREAT | O_WRONLY, 0o700)
    unsafe write(descriptor, "#!/bin/sh\necho runs\n", 20)
    close(descriptor)
    let url = try #require(URL(string: "\(folder.url)/bad%FF"))

    #expect(await outcome(of: Process.task(url)).0 == [.output("runs")])
  }

  @Test(arguments: ["%00x", "bad%FF"])
  func `a folder that Process does not store as it is named starts no program`(
    _ name: String
  ) async throws {
    let folder = try Folder()
    #expect(unsafe mkdir(folder.pathThatIsNotUTF8, 0o700) == 0)
    let url = try #require(URL(string: "\(folder.url)/\(name)"))

    let (lines, result) = await outcome(of: shell("echo ran") { $0.currentDirectoryURL = url })

    #expect(lines == [])
    #expect(throws: CocoaError.self) { try result?.get() }
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
              for _ in 0..<scaled(160) / width {
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

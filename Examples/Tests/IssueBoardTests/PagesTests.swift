import Foundation
import MiniRex
import MiniRexJournal
import MiniRexPageServer
import MiniRexStore
import TestSupport
import Testing

@testable import issue_board

/// A served board with test dependencies.
struct ServedBoard: Sendable {
  let session: Session
  let server: PageServer

  init(
    _ server: PageServer, _ outside: Outside, _ journal: Journal<Board, BoardAction>?
  ) throws {
    session = try Session(outside, journal)
    self.server = server
  }

  var store: Store<Board, BoardAction> { session.store }

  func post(_ command: String) async throws -> String {
    try await request("POST / HTTP/1.0\r\nContent-Length: \(command.utf8.count)\r\n\r\n\(command)")
  }

  func request(_ text: String) async throws -> String {
    try await response(from: server.port, to: text)
  }

  /// Returns the cards by path.
  func cards() async throws -> String {
    let answer = try await request("GET /cards HTTP/1.0\r\n\r\n")
    let body = answer.components(separatedBy: "\r\n\r\n").last ?? ""
    let cards = try JSONDecoder().decode([Card].self, from: Data(body.utf8))
    return text(cards.map { ShownCard($0) })
  }
}

@Suite(.heavy) struct PagesTests {
  func withBoard(
    _ limits: Limits = Limits(), finding findings: Findings = Findings(),
    in journal: Journal<Board, BoardAction>? = nil, _ body: (ServedBoard) async throws -> Void
  ) async throws {
    try await withBoard(limits, of: Outside { _ in .sequence([findings]) }, in: journal, body)
  }

  func withBoard(
    _ limits: Limits = Limits(), of outside: Outside,
    in journal: Journal<Board, BoardAction>? = nil, _ body: (ServedBoard) async throws -> Void
  ) async throws {
    let server = try #require(PageServer(port: 0, limits: limits))
    let board = try ServedBoard(server, outside, journal)
    let pages = Pages(board.session)
    let serving = Task { await board.server.serve { await pages.answer($0) } }
    defer { serving.cancel() }
    try await body(board)
    serving.cancel()
    await serving.value
  }

  @Test func `pages agree with the board after concurrent edits`() async throws {
    try await withBoard { board in
      let pages = (0..<2).map { _ in Page(board.server.port) }
      defer { for page in pages { page.close() } }
      for number in 1...20 { board.store.send(.add("card \(number)")) }

      try await withThrowingTaskGroup { group in
        for writer in 0..<4 {
          group.addTask {
            var random = SeededGenerator(seed: UInt64(writer))
            for number in 0..<scaled(50) {
              let id = Int.random(in: 1...25, using: &random)
              let column = Column.allCases.randomElement(using: &random) ?? .todo
              let commands = [
                "add \(writer) \(number)", "edit \(id) é\" \(number)", "move \(id) \(column)",
                "move \(id) \(column)", "close \(id + 15)",
              ]
              _ = try await board.post(commands.randomElement(using: &random) ?? "list")
            }
          }
        }
        try await group.waitForAll()
      }

      let cards = try await board.cards()
      for page in pages {
        await until { page.cards == cards }
        #expect(page.cards == cards)
      }
    }
  }

  @Test func `an event contains only the changed card, without markup`()
    async throws
  {
    try await withBoard { board in
      for text in ["one", "<script>", "three"] { board.store.send(.add(text)) }
      let browser = try HTTPClient(board.server.port)
      browser.send("GET /events HTTP/1.0\r\n\r\n")
      var output = Output(browser)
      var lines = await output.until("one\"")
      let added = "{\"id\":2,\"text\":\"<script>\",\"column\":\"todo\"}"
      #expect(lines.last?.contains(added) == true)
      board.store.send(.move(2, .doing))
      lines = await output.until("doing")
      let card = "{\"id\":2,\"text\":\"<script>\",\"column\":\"doing\"}"
      #expect(lines.last == "data: [[{\"moved\":\(card),\"from\":1,\"at\":2}]]")
      board.store.send(.edit(3, "line\nbreak"))
      lines = await output.until("break\"")
      let edited = "{\"id\":3,\"text\":\"line\\nbreak\",\"column\":\"todo\"}"
      #expect(lines.last == "data: [[{\"updated\":\(edited),\"at\":0}]]")

      // The page inserts received values as text.
      let page = try await board.request("GET / HTTP/1.0\r\n\r\n")
      #expect(page.contains("textContent") && page.hasSuffix("</html>\n"))
      for word in [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "http:", "https:",
      ] {
        #expect(!page.contains(word))
      }
    }
  }

  @Test func `a page that reconnects receives the changes that it missed`() async throws {
    try await withBoard { board in
      let page = Page(board.server.port)
      defer { page.close() }
      board.store.send(.add("one"))
      board.store.send(.add("two"))
      await until { page.cards.contains("two") }

      for number in 1...5 {
        page.interrupt()
        board.store.send(.edit(1, "edit \(number)"))
        board.store.send(number % 2 == 0 ? .add("two") : .close(number / 2 + 2))
        let cards = try await board.cards()
        await until { page.cards == cards && page.visits > number }
        #expect(page.cards == cards)
      }
    }
  }

  @Test func `edits are undone and redone, and findings stay`() async throws {
    let findings = Findings(comments: [Comment(file: "f", line: 1, text: "two")])
    try await withBoard(finding: findings) { board in
      let page = Page(board.server.port)
      defer { page.close() }
      #expect(try await board.post("undo").hasSuffix("No change can be undone.\n"))
      board.store.send(.add("one"))
      board.store.send(.found(findings))
      board.store.send(.move(1, .doing))
      let done = try await board.cards()

      #expect(try await board.post("undo").hasPrefix("HTTP/1.1 204 "))
      // The page may still show the card before the findings.
      let undone = try await board.cards()
      #expect(undone.contains("1 todo one") && undone.contains("two"))
      await until { page.cards == undone && board.store.effectCount == 0 }
      #expect(try await board.post("redo").hasPrefix("HTTP/1.1 204 "))
      await until { page.cards == done && board.store.effectCount == 0 }
      #expect(page.cards == done)
      #expect(try await board.post("redo").hasSuffix("No change can be redone.\n"))

      for _ in 0..<2 { _ = try await board.post("undo") }
      await until { !page.cards.contains("one") && page.cards.contains("two") }
      #expect(try await board.post("undo").hasSuffix("No change can be undone.\n"))
    }
  }

  @Test func `a journal restores the board, and the board after each commit`() async throws {
    let folder = try Folder()
    let cards = Shared("")
    // The previous session may not have closed the file yet.
    func open() async throws -> Journal<Board, BoardAction> {
      var journal: Journal<Board, BoardAction>?
      await until {
        journal = try? Journal(folder.file("journal"))
        return journal != nil
      }
      return try #require(journal)
    }
    try await withBoard(in: open()) { board in
      board.store.send(.add("one"))
      board.store.send(.move(1, .doing))
      board.store.send(.add("two"))
      _ = try await board.post("undo")
      await until { board.store.effectCount == 0 }
      cards.value = try await board.cards()
    }
    try await withBoard(in: open()) { board in
      #expect(try await board.cards() == cards.value && cards.value.contains("one"))
      board.store.send(.close(1))
      let answer = try await board.request("GET /commits HTTP/1.0\r\n\r\n")
      let number = try #require(Int(answer.components(separatedBy: "\r\n\r\n").last ?? ""))
      let past = try await board.request("GET /commits/\(number) HTTP/1.0\r\n\r\n")
      #expect(past.contains("\"1/text\":\"- \\\"one\\\"\""))
      let before = try await board.request("GET /commits/\(number - 1) HTTP/1.0\r\n\r\n")
      #expect(before.contains("\"1/column\":\"doing\""))
      for wrong in ["0", "\(number + 1)", "-1", "x", "", "1/2", "99999999999999999999"] {
        let answer = try await board.request("GET /commits/\(wrong) HTTP/1.0\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(wrong)")
      }
    }
  }

  @Test func `a commit that the journal deleted is answered with the first kept commit`()
    async throws
  {
    let folder = try Folder()
    let journal = try Journal<Board, BoardAction>(
      folder.file("journal"), keeping: .last(commits: 2))
    try await withBoard(in: journal) { board in
      func answer(_ path: String) async throws -> String {
        let answer = try await board.request("GET \(path) HTTP/1.0\r\n\r\n")
        return answer.components(separatedBy: "\r\n\r\n").last ?? ""
      }
      for number in 1...6 {
        board.store.send(.add("card \(number)"))
        try await journal.compact()
      }
      _ = try await board.post("add more")
      let first = try #require(journal.status.current()?.firstNumber)
      #expect(first > 2)

      for query in ["", "?toward=earlier", "?toward=later"] {
        #expect(try await answer("/commits/1\(query)").hasPrefix("{\"number\":\(first + 1),"))
      }
      let last = journal.lastNumber
      #expect(
        try await answer("/journal").hasPrefix("first \(first)\nlast \(last)\ndurable \(last)\n"))
    }
  }

  @Test func `the time slider begins at the first commit that the journal keeps`() async throws {
    let folder = try Folder()
    let journal = try Journal<Board, BoardAction>(
      folder.file("journal"), keeping: .last(commits: 2))
    try await withBoard(in: journal) { board in
      let page = Page(board.server.port)
      await until { page.status["firstCommit"] == "1" }
      for number in 1...6 {
        board.store.send(.add("card \(number)"))
        try await journal.compact()
      }
      // The status is published with the next change.
      _ = try await board.post("add more")
      let first = try #require(journal.status.current()?.firstNumber) + 1
      #expect(first > 3)
      // An earlier status may have the same first commit.
      let last = "\(journal.lastNumber)"
      await until { page.status["firstCommit"] == "\(first)" && page.status["lastCommit"] == last }
      #expect(page.status["lastCommit"] == last)

      // The board of the first position is the board of that commit.
      let answer = try await board.request("GET /commits/\(first) HTTP/1.0\r\n\r\n")
      #expect(answer.contains("{\"number\":\(first),"))
      page.close()
    }
  }

  @Test func `an answered command is in the journal, even while another thread delivers`()
    async throws
  {
    let folder = try Folder()
    let journal = try Journal<Board, BoardAction>(folder.file("journal"))
    let session = try Session(Outside { _ in .sequence([Findings()]) }, journal)
    let (isDelivering, mayGoOn) = (Gate(), Gate())
    let blocker = session.store.events.subscribe { event in
      if case .add("slow") = event.action {
        isDelivering.open()
        mayGoOn.wait()
      }
    }
    let sent = Task { await onQueue { session.store.send(.add("slow")) } }
    await onQueue { isDelivering.wait() }
    let number = journal.lastNumber

    let answered = Task {
      _ = await session.obey("add fast")
      return journal.lastNumber
    }
    await until { session.store.state.cards.contains { $0.text == "fast" } }
    // An answer before the delivery is finished would arrive within this time.
    try await Task.sleep(for: .milliseconds(100))
    mayGoOn.open()

    #expect(await answered.value == number + 1)
    await sent.value
    withExtendedLifetime(blocker) {}
  }

  @Test func `pages that never read delay no sender, and are disconnected`() async throws {
    var limits = Limits()
    limits.unreadTime = .seconds(2)
    try await withBoard(limits) { board in
      let page = Page(board.server.port)
      defer { page.close() }
      let slow = try (0..<40).map { _ in try HTTPClient(board.server.port, receiveBuffer: 4096) }
      for browser in slow { browser.send("GET /events HTTP/1.0\r\n\r\n") }
      await until { board.server.connectionCount == 41 }

      // A page that connects late has missed nothing yet, so continue until every page has.
      var number = 0
      await until {
        number += 1
        board.store.send(.add("\(number) \(String(repeating: "x", count: 4_000))"))
        if number > 5 { board.store.send(.close(number - 5)) }
        return board.server.connectionCount <= 1
      }

      let cards = try await board.cards()
      await until { page.cards == cards }
      #expect(page.cards == cards)
      withExtendedLifetime(slow) {}
    }
  }

  @Test func `an invalid command is answered with a reason, and changes nothing`() async throws {
    try await withBoard { board in
      board.store.send(.add("one"))
      let state = board.store.state
      let commands = [
        "", "\n", "fly", "add", "add ", "edit 1", "edit one two", "move 1 away", "move 1", "close",
        "close 7", "close -1", "close 99999999999999999999", "move 1 doing\nclose 1", "add a\u{0}b",
        "add \u{1B}[31m", "quit", "{\"add\": \"card\"}", "add\tcard",
      ]
      for command in commands {
        #expect(try await board.post(command).hasPrefix("HTTP/1.1 400 "), "\(command)")
      }
      for request in [
        "POST /cards HTTP/1.0\r\n\r\n", "DELETE / HTTP/1.0\r\n\r\n", "PUT / HTTP/1.0\r\n\r\n",
      ] {
        #expect(try await board.request(request).hasPrefix("HTTP/1.1 405 "))
      }
      #expect(try await board.request("GET /../cards HTTP/1.0\r\n\r\n").hasPrefix("HTTP/1.1 404 "))
      // Invalid UTF-8, then a request from a page of another server.
      let body = Data("POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\nadd ".utf8) + [0xFF, 0xFE]
      let browser = try HTTPClient(board.server.port)
      browser.send(body)
      #expect(await browser.response().hasPrefix("HTTP/1.1 400 "))
      let stranger = "POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://elsewhere\r\n"
      #expect(
        try await board.request("\(stranger)Content-Length: 7\r\n\r\nclose 1").hasPrefix(
          "HTTP/1.1 403 "))
      #expect(board.store.state == state)
      #expect(try await board.post("list").contains("  1  one\n"))
      #expect(try await board.post("move 1 done\n").hasPrefix("HTTP/1.1 204 "))
      #expect(board.store.state.cards[id: 1]?.column == .done)
    }
  }
}

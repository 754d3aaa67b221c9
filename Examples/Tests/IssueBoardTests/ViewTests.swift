import Foundation
import MiniRex
import MiniRexJournal
import MiniRexPageServer
import MiniRexStore
import TestSupport
import Testing

@testable import issue_board

extension PagesTests {
  @Test func `a browser receives inserts, moves, removals, and updates of its search and order`()
    async throws
  {
    try await withBoard { board in
      for text in ["needle b", "dial", "needle a"] { board.store.send(.add(text)) }
      let page = Page(board.server.port, "search=NEEDLE&order=text")
      defer { page.close() }
      await until { page.rows.map(\.id) == [3, 1] }

      board.store.send(.add("a needle"))
      await until { page.rows.map(\.id) == [4, 3, 1] }
      board.store.send(.edit(3, "needle z"))
      await until { page.rows.map(\.id) == [4, 1, 3] }
      board.store.send(.move(4, .done))
      await until { page.rows.map(\.id) == [1, 3, 4] }
      board.store.send(.edit(1, "needle B"))
      await until { page.rows.first?.text == "needle B" }
      board.store.send(.edit(1, "no longer"))
      await until { page.rows.map(\.id) == [3, 4] }
      board.store.send(.edit(2, "another dial"))
      board.store.send(.close(4))
      await until { page.rows.map(\.id) == [3] }

      #expect(page.changes == ["inserted": 1, "moved": 2, "updated": 1, "removed": 2])
      #expect(page.resets == 1 && page.visits == 1)
    }
  }

  @Test func `another search is an update of the same query`() async throws {
    try await withBoard { board in
      for number in 1...20 { board.store.send(.add(number < 18 ? "needle \(number)" : "dial")) }
      let page = Page(board.server.port, "search=e&order=oldest")
      defer { page.close() }
      await until { page.rows.map(\.id) == Array(1...17) }

      #expect(try await board.show(page, "search=needle+1&order=oldest").hasPrefix("HTTP/1.1 204 "))
      await until { page.rows.map(\.id) == [1] + Array(10...17) }
      #expect(page.resets == 1)
      #expect(page.changes == ["removed": 8])

      _ = try await board.show(page, "order=newest")
      await until { page.rows.map(\.id) == Array((1...20).reversed()) }
      _ = try await board.show(page, "search=%2317&order=newest")
      await until { page.rows.map(\.id) == [17] }
      #expect(page.visits == 1)

      page.close()
      let gone = Shared("")
      while !gone.value.hasPrefix("HTTP/1.1 404 ") { gone.value = try await board.show(page, "") }
    }
  }

  @Test(arguments: [
    (View.Order.newest, [4, 2, 1, 3]), (.oldest, [1, 2, 4, 3]), (.text, [2, 4, 1, 3]),
    (.place, [4, 1, 2, 3]),
  ])
  func `each column has the order of the view`(order: View.Order, numbers: [Int]) async throws {
    let comments = [
      Comment(file: "b.c", line: 9, text: "c"), Comment(file: "b.c", line: 10, text: "A"),
      Comment(file: "a.c", line: 1, text: "a", owner: "ada"),
      Comment(file: "a.c", line: 2, text: "b"),
    ]
    try await withBoard(finding: Findings(comments: comments)) { board in
      board.store.send(.look)
      let page = Page(board.server.port, "order=\(order)")
      defer { page.close() }
      await until { page.rows.map(\.id) == numbers }
      #expect(page.rows.map(\.id) == numbers)
    }
  }

  @Test func `a view agrees with the board after random edits, searches, and orders`()
    async throws
  {
    try await withBoard { board in
      let page = Page(board.server.port)
      defer { page.close() }
      await until { !page.id.isEmpty }
      var random = SeededGenerator(seed: 7)
      var view = View()
      for number in 0..<scaled(400) {
        let id = Int.random(in: 1...60, using: &random)
        let column = Column.allCases.randomElement(using: &random) ?? .todo
        let letters = ["a", "b", "c", "ab"].randomElement(using: &random) ?? "a"
        let actions: [BoardAction] = [
          .add("\(letters) \(number)"), .add(letters), .edit(id, "\(letters) \(number)"),
          .move(id, column), .close(id), .all([.move(id, column), .close(id + 1), .add(letters)]),
        ]
        board.store.send(actions.randomElement(using: &random) ?? .look)
        guard number.isMultiple(of: 10) else { continue }
        if Bool.random(using: &random) {
          view.search = ["", "a", "A B", "#1", "b", "none"].randomElement(using: &random) ?? ""
        } else {
          view.order = View.Order.allCases.randomElement(using: &random) ?? .newest
        }
        let search = view.search.replacing("#", with: "%23").replacing(" ", with: "+")
        _ = try await board.show(page, "search=\(search)&order=\(view.order)")
        let expected = shown(board.store.state, view)
        // An earlier view may have the same rows, so the page may still change.
        var rows: [ShownCard] = []
        await until {
          rows = page.rows
          return rows == expected
        }
        #expect(rows == expected, "\(view)")
      }
      #expect(page.visits == 1)
    }
  }

  /// Returns the cards that a view shows, in its order.
  private func shown(_ board: Board, _ view: View) -> [ShownCard] {
    let cards = board.cards.filter { $0.contains(view.words) }
    return Column.allCases.flatMap { column in
      cards.filter { $0.column == column }.sorted { one, other in
        if view.order == .text, one.text.lowercased() != other.text.lowercased() {
          return one.text.lowercased() < other.text.lowercased()
        }
        return view.order == .newest ? one.id > other.id : one.id < other.id
      }
    }.map { ShownCard($0) }
  }

  @Test func `commits that change no card are skipped toward earlier and later commits`()
    async throws
  {
    let folder = try Folder()
    try await withBoard(in: Journal(folder.file("journal"))) { board in
      func commit(_ number: Int, _ query: String) async throws -> String {
        let answer = try await board.request("GET /commits/\(number)\(query) HTTP/1.0\r\n\r\n")
        return answer.components(separatedBy: "\r\n\r\n").last ?? ""
      }
      board.store.send(.add("one"))
      for _ in 0..<3 { board.store.send(.look) }
      await until { board.store.effectCount == 0 }
      board.store.send(.add("two"))
      let last = try #require(board.session.lastCommit)
      #expect(last > 4)

      #expect(try await commit(last - 1, "").contains("\"changes\":{},"))
      #expect(try await commit(last - 1, "?toward=earlier").hasPrefix("{\"number\":1,"))
      #expect(try await commit(2, "?toward=later").hasPrefix("{\"number\":\(last),"))
      #expect(try await commit(1, "?toward=later").hasPrefix("{\"number\":1,"))
    }
  }

  @Test func `an added card is the answer`() async throws {
    try await withBoard { board in
      #expect(
        try await board.post("add a \"card\"").hasSuffix(
          "\r\n\r\n{\"id\":1,\"text\":\"a \\\"card\\\"\",\"column\":\"todo\"}\n"))
      let answers = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<20 { group.addTask { try await board.post("add the same") } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(answers.count == 20)
      let icon = try await board.request("GET /favicon.ico HTTP/1.0\r\n\r\n")
      #expect(icon.hasPrefix("HTTP/1.1 204 "))
    }
  }

  @Test func `a command answers with its own card, although another sender adds cards`()
    async throws
  {
    let session = try Session(Outside { _ in .sequence([Findings()]) })
    let other = session.store.events.subscribe { [store = session.store] event in
      if case .add("one") = event.action { store.send(.add("two")) }
    }
    guard case .added(let card) = await session.obey("add one") else {
      Issue.record("no card")
      return
    }
    #expect(card.text == "one" && session.store.state.cards.count == 2)
    withExtendedLifetime(other) {}
  }

  @Test func `a search of the folder delays no request, and its progress is shown`() async throws {
    let folder = try Folder()
    for number in 0..<100 { try folder.write("// TODO: mend \(number)\n", to: "\(number).c") }
    let outside = Outside(folder.url, except: nil, clock: ContinuousClock())
    // The search reports its progress on its thread, which blocks here.
    let mayGoOn = Gate()
    try await withBoard(of: outside) { board in
      let page = Page(board.server.port)
      defer { page.close() }
      // The page must receive the progress before it blocks its thread.
      await until { page.status["cards"] == "0" }
      let blocker = outside.progress.subscribe { if $0 == 64 { mayGoOn.wait() } }
      board.store.send(.look)
      await until { page.status["searched"] == "64" }
      let added = try await board.post("add a card")
      #expect(added.hasPrefix("HTTP/1.1 200 "))
      await until { page.rows.map(\.text) == ["a card"] }
      let html = try await board.request("GET / HTTP/1.0\r\n\r\n")
      #expect(html.hasPrefix("HTTP/1.1 200 "))
      mayGoOn.open()

      await until { page.rows.count == 101 && page.status["searched"] == nil }
      #expect(page.status["cards"] == "101")
      withExtendedLifetime(blocker) {}
    }
  }

  @Test func `the status is current in a browser whose search excludes the changed card`()
    async throws
  {
    try await withBoard { board in
      let page = Page(board.server.port, "search=needle")
      defer { page.close() }
      await until { page.status["cards"] == "0" }
      board.store.send(.add("dial"))
      await until { page.status["cards"] == "1" }
      board.store.send(.add("hand"))
      await until { page.status["cards"] == "2" }
      #expect(page.status["cards"] == "2" && page.rows.isEmpty)
    }
  }

  @Test func `a hundred browsers show the same board, each its view`() async throws {
    try await withBoard { board in
      for number in 1...50 { board.store.send(.add("card \(number)")) }
      let pages = (0..<100).map { Page(board.server.port, "order=oldest&search=\($0 % 10)") }
      defer { for page in pages { page.close() } }
      await until { pages.allSatisfy { $0.status["browsers"] == "100" } }

      var random = SeededGenerator(seed: 1)
      for number in 0..<scaled(100) {
        let id = Int.random(in: 1...60, using: &random)
        let column = Column.allCases.randomElement(using: &random) ?? .todo
        let commands = [
          "add \(number)", "edit \(id) text \(number)", "move \(id) \(column)", "close \(id)",
        ]
        _ = try await board.post(commands.randomElement(using: &random) ?? "list")
      }

      for (number, page) in pages.enumerated() {
        let words = View(search: "\(number % 10)").words
        let found = board.store.state.cards.filter { $0.contains(words) }
        let cards = text(found.map { ShownCard($0) })
        await until { page.cards == cards }
        #expect(page.cards == cards && page.visits == 1)
      }
    }
  }
}

extension ServedBoard {
  /// Changes the view of a page.
  func show(_ page: Page, _ query: String) async throws -> String {
    try await request("POST /view/\(page.id)?\(query) HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
  }
}

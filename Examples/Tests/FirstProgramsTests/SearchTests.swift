import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import first_programs

@Suite(.light) struct SearchTests {
  let clock = ManualClock()

  @Test func `a search starts when typing pauses, and cancels the previous search`() {
    let (rex, reX) = (TaskSource<[String], POSIXError>(), TaskSource<[String], POSIXError>())
    let asked = BroadcastSource<String>()
    let questions = Recorder(asked.publisher)
    let search = Search(pause: .seconds(1), clock: clock) { text in
      asked.broadcast(text)
      return text == "rex" ? rex.publisher : reX.publisher
    }
    let states = Recorder(search.state)

    for text in ["r", "re", "rex"] { search.text.value = text }
    clock.advance(by: .seconds(1))
    #expect(questions.updates == ["rex"])
    #expect(states.updates == [.idle, .searching])

    search.text.value = "rexx"
    clock.advance(by: .seconds(1))
    rex.finish(.success(["outdated"]))
    reX.finish(.success(["MiniRexx"]))
    #expect(questions.updates == ["rex", "rexx"])
    #expect(states.updates == [.idle, .searching, .found(["MiniRexx"])])

    search.text.value = ""
    clock.advance(by: .seconds(1))
    #expect(states.updates.last == .idle)
  }

  @Test func `a search finds lines of a file, and reports its error`() async throws {
    let folder = try Folder()
    for ending in ["\n", "\r\n"] {
      try folder.write("Tyrannosaurus rex\(ending)Triceratops\(ending)", to: "beasts")
      let found = await lines(of: folder.file("beasts"), with: "rex").result
      #expect(found == .success(["Tyrannosaurus rex"]))
    }

    let search = Search(pause: .zero, clock: clock) { lines(of: folder.file("none"), with: $0) }
    let states = Recorder(search.state)
    search.text.value = "rex"
    await clock.advance(by: .zero)
    #expect(await states.next(3) == [.idle, .searching, .failed(.ENOENT)])
  }
}

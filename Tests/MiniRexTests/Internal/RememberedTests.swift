import MiniRex
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct RememberedTests {
  @Test func `what is replaced comes back, and what is taken is gone`() {
    var remembered = Remembered()
    #expect(remembered.value(of: String.self) == nil)

    #expect(remembered.replace(by: "one") == nil)
    #expect(remembered.replace(by: "two") == "one")
    #expect(remembered.value(of: String.self) == "two")
    #expect(remembered.take(String.self) == "two")

    #expect(remembered.value(of: String.self) == nil)
    #expect(remembered.take(String.self) == nil)
    #expect(remembered.replace(by: "three") == nil)
  }

  @Test func `a value that has no room here is kept, and released once`() {
    weak var first: Thing?
    weak var last: Thing?
    do {
      var remembered = Remembered()
      do {
        let large = Large(thing: Thing())
        first = large.thing
        #expect(remembered.replace(by: large)?.thing == nil)
      }
      #expect(remembered.value(of: Large.self)?.thing === first)
      do {
        let large = Large(thing: Thing())
        last = large.thing
        #expect(remembered.replace(by: large)?.thing === first)
      }
      #expect(first == nil)
      #expect(remembered.value(of: Large.self)?.words.3 == 4)
      #expect(remembered.take(Large.self)?.thing === last)
      #expect(last == nil)

      let large = Large(thing: Thing())
      last = large.thing
      #expect(remembered.replace(by: large)?.thing == nil)
    }
    #expect(last == nil)
  }

  @Test func `a value that has room here is released with it`() {
    weak var thing: Thing?
    do {
      var remembered = Remembered()
      do {
        let kept = Thing()
        thing = kept
        #expect(remembered.replace(by: kept) == nil)
      }
      #expect(remembered.value(of: Thing.self) === thing)
      #expect(thing != nil)
    }
    #expect(thing == nil)
  }

  private struct Large {
    let words = (1, 2, 3, 4)
    let thing: Thing
  }
}

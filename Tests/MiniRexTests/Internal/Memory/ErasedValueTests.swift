import MiniRex
import TestSupport
import Testing

@Suite(.light) struct ErasedValueTests {
  @Test func `replace returns the old value, and take removes the value`() {
    var remembered = ErasedValue()
    #expect(remembered.value(of: String.self) == nil)

    #expect(remembered.replace(by: "one") == nil)
    #expect(remembered.replace(by: "two") == "one")
    #expect(remembered.value(of: String.self) == "two")
    #expect(remembered.take(String.self) == "two")

    #expect(remembered.value(of: String.self) == nil)
    #expect(remembered.take(String.self) == nil)
    #expect(remembered.replace(by: "three") == nil)
  }

  @Test func `a value too large for inline storage is released once`() {
    weak var first: Thing?
    weak var last: Thing?
    do {
      var remembered = ErasedValue()
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

  @Test func `a value in inline storage is released with the container`() {
    weak var thing: Thing?
    do {
      var remembered = ErasedValue()
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

import MiniRex
import MiniRexTesting
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

  /// The optimizer has removed the address of a separate allocation.
  ///
  /// `Scripts/soak searches` runs it optimized.
  @Test func `R15 a late subscriber receives a result of any size`() {
    func results<Success: Equatable & Sendable>(_ success: Success) -> [Success] {
      let source = TaskSource<Success, Failed>()
      source.finish(.success(success))
      return (0..<2).compactMap { _ in try? Recorder(source.publisher).updates.first?.get() }
    }
    #expect(results(1 as UInt8) == [1, 1])
    #expect(
      results("a text in a separate allocation") == [
        "a text in a separate allocation", "a text in a separate allocation",
      ])
    #expect(results(Words<SIMD2<Int>>(a: [1, 2], b: [3, 4])).map(\.b) == [[3, 4], [3, 4]])
    #expect(results(Words<Int>(a: 5, b: 2)).map(\.a) == [5, 5])
  }

  private struct Words<Word: Equatable & Sendable>: Equatable, Sendable {
    let a: Word
    let b: Word
  }

  private enum Failed: Error {
    case because(any Error)
    case of(text: String, number: Int, detail: Detail)
    case closed
  }

  private enum Detail: Sendable {
    case range(Range<UInt64>)
    case text(String)
  }

  private struct Large {
    let words = (1, 2, 3, 4)
    let thing: Thing
  }
}

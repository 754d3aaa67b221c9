import MiniRex
import TestSupport
import Testing

@Suite(.light) struct ChangeTestTests {
  @Test func `R17 Equatable values differ when they are not equal`() {
    #expect(!ChangeTest<Int>()(1, 1))
    #expect(ChangeTest<Int>()(1, 2))
    #expect(!ChangeTest<String>()("a", "a"))
    #expect(!ChangeTest<[Int]>()([1, 2], [1, 2]))
    #expect(ChangeTest<[Int]>()([1, 2], [2, 1]))
    #expect(!ChangeTest<Int?>()(nil, nil))
    #expect(ChangeTest<Int?>()(nil, 1))
    #expect(!ChangeTest<Int?>()(1, 1))
    #expect(!ChangeTest<Int??>()(.some(nil), .some(nil)))
    #expect(ChangeTest<Int??>()(nil, .some(nil)))
  }

  @Test func `R17 NaN always differs from itself`() {
    #expect(ChangeTest<Double>()(.nan, .nan))
    #expect(!ChangeTest<Double>()(0, -0.0))
  }

  @Test func `R17 Equatable objects are compared with ==, not by identity`() {
    #expect(!ChangeTest<Named>()(Named("a"), Named("a")))
    #expect(ChangeTest<Named>()(Named("a"), Named("b")))
    #expect(!ChangeTest<Named?>()(Named("a"), Named("a")))
    #expect(!ChangeTest<Named??>()(Named("a"), Named("a")))
  }

  @Test func `R17 objects that are not Equatable are compared by identity`() {
    let one = Noisemaker()
    let other = Noisemaker()
    #expect(!ChangeTest<Noisemaker>()(one, one))
    #expect(ChangeTest<Noisemaker>()(one, other))
  }

  @Test func `R17 optional objects are compared by identity`() {
    let one = Noisemaker()
    let other = Noisemaker()
    #expect(!ChangeTest<Noisemaker?>()(one, one))
    #expect(ChangeTest<Noisemaker?>()(one, other))
    #expect(ChangeTest<Noisemaker?>()(one, nil))
    #expect(ChangeTest<Noisemaker?>()(nil, one))
    #expect(!ChangeTest<Noisemaker?>()(nil, nil))
  }

  @Test func `R17 objects in nested optionals are compared by identity`() {
    let one = Noisemaker()
    #expect(!ChangeTest<Noisemaker??>()(one, one))
    #expect(ChangeTest<Noisemaker??>()(one, Noisemaker()))
    #expect(ChangeTest<Noisemaker??>()(.some(nil), nil))
    #expect(!ChangeTest<Noisemaker??>()(.some(nil), .some(nil)))
    #expect(ChangeTest<Noisemaker??>()(one, .some(nil)))
    #expect(!ChangeTest<Noisemaker??>()(nil, nil))
  }

  @Test func `R17 objects in an existential are compared by identity`() {
    let one: any Noise = Noisemaker()
    let other: any Noise = Noisemaker()
    #expect(!ChangeTest<any Noise>()(one, one))
    #expect(ChangeTest<any Noise>()(one, other))
    #expect(!ChangeTest<(any Noise)?>()(one, one))
    #expect(ChangeTest<(any Noise)?>()(one, other))
    #expect(!ChangeTest<AnyObject>()(one as AnyObject, one as AnyObject))
    #expect(!ChangeTest<any AnyNoise>()(Twin.shared, Twin.shared))
    #expect(ChangeTest<any AnyNoise>()(Twin.shared, Twin()))
  }

  @Test func `R17 structs in an existential always differ`() {
    let one: any Noise = Bang(volume: 1)
    #expect(ChangeTest<any Noise>()(one, one))
    #expect(ChangeTest<any Noise>()(one, Noisemaker()))
    #expect(ChangeTest<any Noise>()(Noisemaker(), one))
  }

  @Test func `R17 values that are neither Equatable nor objects always differ`() {
    let bang = Bang(volume: 1)
    #expect(ChangeTest<Bang>()(bang, bang))
    #expect(ChangeTest<Bang?>()(bang, bang))
    #expect(!ChangeTest<Bang?>()(nil, nil))
    #expect(ChangeTest<Bang?>()(bang, nil))
    #expect(ChangeTest<(Int, Int)>()((1, 1), (1, 1)))
    #expect(ChangeTest<() -> Void>()({}, {}))
  }

  @Test func `R17 generic code compares by the dynamic conformance`() {
    let one = Noisemaker()
    let other = Noisemaker()
    #expect(!changeTest(1, 1))
    #expect(changeTest(1, 2))
    #expect(!changeTest(Named("a"), Named("a")))
    #expect(!changeTest(one, one))
    #expect(changeTest(one, other))
    #expect(!changeTest(Optional(one), Optional(one)))
    #expect(changeTest(Optional(one), nil))
    #expect(!changeTest(Optional(Optional(one)), Optional(Optional(one))))
    #expect(changeTest(Bang(volume: 1), Bang(volume: 1)))
    #expect(!changeTest(one as any Noise, one as any Noise))
    #expect(!changeTest([1: "a"], [1: "a"]))
  }

  private func changeTest<Value>(_ old: Value, _ new: Value) -> Bool {
    ChangeTest<Value>()(old, new)
  }
}

private protocol Noise: Sendable {}

private protocol AnyNoise: AnyObject, Sendable {}

private final class Noisemaker: Noise {}

private final class Twin: AnyNoise {
  static let shared = Twin()
}

private struct Bang: Noise {
  let volume: Int
}

private final class Named: Equatable, Sendable {
  private let name: String

  init(_ name: String) {
    self.name = name
  }

  static func == (one: Named, other: Named) -> Bool { one.name == other.name }
}

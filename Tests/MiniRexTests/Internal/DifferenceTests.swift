import MiniRex
import Testing

@Suite struct DifferenceTests {
  @Test func `R17 an Equatable value differs when it is not equal`() {
    #expect(!Difference<Int>()(1, 1))
    #expect(Difference<Int>()(1, 2))
    #expect(!Difference<String>()("a", "a"))
    #expect(!Difference<[Int]>()([1, 2], [1, 2]))
    #expect(Difference<[Int]>()([1, 2], [2, 1]))
    #expect(!Difference<Int?>()(nil, nil))
    #expect(Difference<Int?>()(nil, 1))
    #expect(!Difference<Int?>()(1, 1))
    #expect(!Difference<Int??>()(.some(nil), .some(nil)))
    #expect(Difference<Int??>()(nil, .some(nil)))
  }

  @Test func `R17 a value that says it differs from itself is always published`() {
    #expect(Difference<Double>()(.nan, .nan))
    #expect(!Difference<Double>()(0, -0.0))
  }

  @Test func `R17 an Equatable object is asked, and not recognised`() {
    #expect(!Difference<Named>()(Named("a"), Named("a")))
    #expect(Difference<Named>()(Named("a"), Named("b")))
    #expect(!Difference<Named?>()(Named("a"), Named("a")))
    #expect(!Difference<Named??>()(Named("a"), Named("a")))
  }

  @Test func `R17 another object differs when it is another`() {
    let one = Noisemaker()
    let other = Noisemaker()
    #expect(!Difference<Noisemaker>()(one, one))
    #expect(Difference<Noisemaker>()(one, other))
  }

  @Test func `R17 another object in an optional differs when it is another`() {
    let one = Noisemaker()
    let other = Noisemaker()
    #expect(!Difference<Noisemaker?>()(one, one))
    #expect(Difference<Noisemaker?>()(one, other))
    #expect(Difference<Noisemaker?>()(one, nil))
    #expect(Difference<Noisemaker?>()(nil, one))
    #expect(!Difference<Noisemaker?>()(nil, nil))
  }

  @Test func `R17 an optional in an optional is looked through`() {
    let one = Noisemaker()
    #expect(!Difference<Noisemaker??>()(one, one))
    #expect(Difference<Noisemaker??>()(one, Noisemaker()))
    #expect(Difference<Noisemaker??>()(.some(nil), nil))
    #expect(!Difference<Noisemaker??>()(.some(nil), .some(nil)))
    #expect(Difference<Noisemaker??>()(one, .some(nil)))
    #expect(!Difference<Noisemaker??>()(nil, nil))
  }

  @Test func `R17 an object in an existential differs when it is another`() {
    let one: any Noise = Noisemaker()
    let other: any Noise = Noisemaker()
    #expect(!Difference<any Noise>()(one, one))
    #expect(Difference<any Noise>()(one, other))
    #expect(!Difference<(any Noise)?>()(one, one))
    #expect(Difference<(any Noise)?>()(one, other))
    #expect(!Difference<AnyObject>()(one as AnyObject, one as AnyObject))
    #expect(!Difference<any AnyNoise>()(Twin.shared, Twin.shared))
    #expect(Difference<any AnyNoise>()(Twin.shared, Twin()))
  }

  @Test func `R17 a struct in an existential always differs`() {
    let one: any Noise = Bang(volume: 1)
    #expect(Difference<any Noise>()(one, one))
    #expect(Difference<any Noise>()(one, Noisemaker()))
    #expect(Difference<any Noise>()(Noisemaker(), one))
  }

  @Test func `R17 what is neither Equatable nor an object always differs`() {
    let bang = Bang(volume: 1)
    #expect(Difference<Bang>()(bang, bang))
    #expect(Difference<Bang?>()(bang, bang))
    #expect(!Difference<Bang?>()(nil, nil))
    #expect(Difference<Bang?>()(bang, nil))
    #expect(Difference<(Int, Int)>()((1, 1), (1, 1)))
    #expect(Difference<() -> Void>()({}, {}))
  }

  @Test func `R17 generic code compares like any other`() {
    let one = Noisemaker()
    let other = Noisemaker()
    #expect(!difference(1, 1))
    #expect(difference(1, 2))
    #expect(!difference(Named("a"), Named("a")))
    #expect(!difference(one, one))
    #expect(difference(one, other))
    #expect(!difference(Optional(one), Optional(one)))
    #expect(difference(Optional(one), nil))
    #expect(!difference(Optional(Optional(one)), Optional(Optional(one))))
    #expect(difference(Bang(volume: 1), Bang(volume: 1)))
    #expect(!difference(one as any Noise, one as any Noise))
    #expect(!difference([1: "a"], [1: "a"]))
  }

  private func difference<Value>(_ old: Value, _ new: Value) -> Bool {
    Difference<Value>()(old, new)
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

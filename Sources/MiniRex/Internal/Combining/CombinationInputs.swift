/// The subscriptions of a `Combination` during its creation.
@usableFromInline
final class CombinationInputs {
  @usableFromInline let combination: Combination
  @usableFromInline let sentinel: Sentinel
  @usableFromInline var tokens: [Subscription] = []

  @inlinable
  init(of combination: Combination) {
    self.combination = combination
    sentinel = Sentinel { combination.end() }
  }

  @inlinable
  func add<Value>(_ input: PublishedValue<Value>, _ cell: CombinationCell<Value>) {
    let changeTest = ChangeTest<Value>()
    let token = input.follow { [combination, sentinel] value in
      withExtendedLifetime(sentinel) { combination.receive(value, into: cell, changeTest) }
    }
    tokens.append(token)
  }
}

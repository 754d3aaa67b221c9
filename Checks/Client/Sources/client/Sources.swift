import MiniRex

func broadcasters() {
  let heard = PublishedProperty<[Int]>([])
  let source = BroadcastSource<Int>()
  let token = source.publisher.subscribe { number in heard.modify { $0.append(number) } }
  source.broadcast(1)
  expect(source.subscriberCount == 1 && source.pendingUpdates == 0)
  expect(heard.value == [1])
  source.end()
  expect(!token.isSubscribed && source.subscriberCount == 0)

  let hasEnded = PublishedProperty(false)
  let custom = Broadcaster<Int> { receive in
    receive(2)
    return Subscription { hasEnded.value = true }
  }
  let customToken = custom.subscribe { number in heard.modify { $0.append(number) } }
  customToken.invalidate()
  expect(heard.value == [1, 2] && hasEnded.value)

  let constants = merge(.sequence([3, 4]), .never)
  let constantsToken = constants.subscribe { number in heard.modify { $0.append(number) } }
  expect(heard.value == [1, 2, 3, 4])
  expect(constantsToken.isSubscribed)
}

struct Wrapped {
  @PublishedProperty var count = 0
}

func publishedValues() {
  let property = PublishedProperty("a")
  expect(property.publisher.current() == "a")
  property.value = "b"
  property.modify { $0 += "c" }
  property.modifyIfChanged { _ in false }
  expect(property.value == "bc" && property.subscriberCount == 0 && property.pendingUpdates == 0)
  property.end()
  property.value = "d"
  expect(property.publisher.current() == "d")

  let wrapped = Wrapped()
  wrapped.count = 1
  expect(wrapped.$count.current() == 1)
  let written = PublishedProperty(wrappedValue: 2)
  expect(written.wrappedValue == 2 && written.projectedValue.current() == 2)

  let source = BroadcastSource<Int>()
  let read = PublishedValue(initial: { 5 }, changes: source.publisher)
  let heard = PublishedProperty<[Int]>([])
  let token = read.subscribe(
    initial: { first in heard.modify { $0.append(first) } },
    updates: { change in heard.modify { $0.append(10 * change) } })
  source.broadcast(6)
  withExtendedLifetime(token) { expect(heard.value == [5, 60]) }
  expect(PublishedValue.constant(7).current() == 7)
}

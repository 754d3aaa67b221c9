import MiniRex

final class Owner: Sendable {
  let heard = PublishedProperty<[Int]>([])
}

func tokens() {
  let source = BroadcastSource<Int>()
  let heard = PublishedProperty<[Int]>([])
  let note: @Sendable (Int) -> Void = { number in heard.modify { $0.append(number) } }
  let ends = PublishedProperty(0)

  let bag = SubscriptionBag()
  source.publisher.subscribe(note).store(in: bag)
  bag.store(source.publisher.subscribe(note, onEnd: { ends.modify { $0 += 1 } }))
  expect(bag.count == 2)
  source.broadcast(1)
  bag.invalidate()
  expect(heard.value == [1, 1] && bag.count == 0 && ends.value == 0)

  withSubscription(source.publisher, note, while: { source.broadcast(2) })
  source.publisher.subscribeOnce(note)
  source.broadcast(3)
  source.broadcast(4)
  expect(heard.value == [1, 1, 2, 3])

  source.publisher.subscribe(note).detached()
  source.broadcast(5)
  let waited = source.publisher.subscribe(note)
  waited.invalidateAndWait()
  expect(waited.pendingUpdates == 0)
  expect(!waited.isSubscribed && !Subscription.ended.isSubscribed)

  var owner: Owner? = Owner()
  if let owner {
    let token = source.publisher.subscribe(weakly: owner) { owner, number in
      owner.heard.modify { $0.append(number) }
    }
    source.broadcast(6)
    expect(owner.heard.value == [6])
    token.store(in: SubscriptionBag())
  }
  owner = nil
  expect(heard.value == [1, 1, 2, 3, 5, 6])

  let last = source.publisher.subscribe(note, onEnd: { ends.modify { $0 += 1 } })
  source.end()
  expect(!last.isSubscribed && ends.value == 1)
}

func tokensInAsyncCode() async {
  let source = BroadcastSource<Int>()
  let heard = PublishedProperty<[Int]>([])
  let note: @Sendable (Int) -> Void = { number in heard.modify { $0.append(number) } }
  await withSubscription(source.publisher, note) {
    await Task { source.broadcast(1) }.value
  }
  let token = source.publisher.subscribe(note)
  await token.invalidateAndDrain()
  source.broadcast(2)
  expect(heard.value == [1])
}

import MiniRex

struct Refused: Error {}

func sources(
  _ source: BroadcastSource<Int>, _ property: PublishedProperty<Int>,
  _ task: TaskSource<Int, Refused>, _ progressive: ProgressiveTaskSource<Double, Int, Refused>
) {
  // expected-error@+1 {{Use 'publisher.subscribe { … }'}}
  _ = source.subscribe { print($0) }
  // expected-error@+1 {{Use 'publisher.subscribe { … }'}}
  _ = property.subscribe { print($0) }
  // expected-error@+1 {{Use 'publisher.subscribe { … }'}}
  _ = task.subscribe { print($0) }
  // expected-error@+1 {{Use 'publisher.subscribe { … }'}}
  _ = progressive.subscribe { print($0) }
  // expected-error@+1 {{renamed to 'broadcast(_:)'}}
  source.send(1)
  // expected-error@+1 {{renamed to 'broadcast(_:)'}}
  source.onNext(1)
  // expected-error@+1 {{Set the 'value'}}
  property.send(1)
}

func subscribing(_ value: PublishedValue<Int>, _ taps: Broadcaster<Int>, _ bag: SubscriptionBag) {
  // expected-error@+1 {{renamed to 'subscribe(_:)'}}
  _ = value.sink { print($0) }
  // expected-error@+1 {{renamed to 'subscribe(_:)'}}
  _ = value.sink(receiveValue: { print($0) })
  // expected-error@+1 {{renamed to 'subscribe(_:)'}}
  _ = value.observe { print($0) }
  // expected-error@+1 {{Read it with 'current()'}}
  _ = value.value
  // expected-error@+1 {{'BroadcasterKind' and 'PublishedValueKind' be equivalent}}
  _ = taps.value
  // expected-error@+1 {{renamed to 'store(in:)'}}
  value.subscribe { print($0) }.addDisposableTo(bag)
  // expected-error@+1 {{renamed to 'store(in:)'}}
  value.subscribe { print($0) }.disposed(by: bag)
}

func subscriptionsInACollection(_ value: PublishedValue<Int>) {
  var subscriptions: [Subscription] = []
  // expected-error@+1 {{Use a 'SubscriptionBag'}}
  value.subscribe { print($0) }.store(in: &subscriptions)
  // expected-error@+1 {{'Subscription' does not conform to protocol 'Hashable'}}
  var set: Set<Subscription> = []
  value.subscribe { print($0) }.store(in: &set)
}

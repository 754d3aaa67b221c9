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
}

final class Label {
  var text = 0
}

func namesOfCombine(
  _ value: PublishedValue<Int>, _ taps: Broadcaster<Int>, _ queue: Int, _ label: Label
) {
  var published = 0
  // expected-error@+1 {{'subscribe(weakly: object) { $0.property = $1 }'}}
  _ = value.assign(to: \.text, on: label)
  // expected-error@+1 {{becomes a 'PublishedProperty'}}
  value.assign(to: &published)
  // expected-error@+1 {{Use 'combineLatest(a, b)' for current values}}
  _ = value.zip(taps)
  // expected-error@+1 {{Delete the call}}
  _ = value.map { $0 + 1 }.eraseToAnyPublisher()
  // expected-error@+1 {{Use 'trace(…)' to log}}
  _ = value.handleEvents(receiveOutput: { print($0) })
  // expected-error@+1 {{Import 'MiniRexDispatchAdapters' for a 'DispatchQueue'}}
  _ = value.receive(on: queue)
  // expected-error@+1 {{Retain a 'Subscription', or store it in a 'SubscriptionBag'}}
  var subscription: AnyCancellable?
  subscription = value.subscribe { print($0) }
  _ = subscription
}

func suspending(_ value: PublishedValue<Int>) {
  // expected-error@+1 {{Use 'bufferingNewest(1)', which keeps the newest value.}}
  _ = value.values(.suspending(1))
}

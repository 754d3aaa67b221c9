import MiniRex

// The first lines of a reader who knows Combine or RxSwift.

func sending(_ source: BroadcastSource<Int>) {
  // expected-warning@+2 {{'send' is deprecated: renamed to 'broadcast(_:)'}}
  // expected-note@+1 {{use 'broadcast(_:)' instead}}
  source.send(1)
}

func sendingAsynchronously(_ source: BroadcastSource<Int>) async throws {
  try await source.send(1)
}

func subscriptions(_ value: PublishedValue<Int>) {
  let subscription = value.subscribe { print($0) }
  // expected-error@+1 {{'cancel()' has been renamed to 'invalidate()'}}
  subscription.cancel()
  // expected-error@+1 {{'dispose()' has been renamed to 'invalidate()'}}
  subscription.dispose()
  // expected-error@+1 2 {{Use a 'SubscriptionBag' instead of a set, and 'store(in: bag)'.}}
  let set: Set<Subscription> = []
  _ = set
}

func subscriptionsInASet(_ value: PublishedValue<Int>) {
  // expected-error@+2 {{'AnyCancellable' has been renamed to 'Subscription'}}
  // expected-error@+1 2 {{Use a 'SubscriptionBag' instead of a set, and 'store(in: bag)'.}}
  var subscriptions = Set<AnyCancellable>()
  // expected-error@+1 {{Use a 'SubscriptionBag'}}
  value.subscribe { print($0) }.store(in: &subscriptions)
}

func sources(_ property: PublishedProperty<Int>, _ source: BroadcastSource<Int>) {
  // expected-error@+1 {{Use 'publisher.map { … }'}}
  _ = property.map { $0 + 1 }
  // expected-error@+1 {{Use 'publisher.map { … }'}}
  _ = source.map { "\($0)" }
  // expected-error@+1 {{Use 'publisher.subscribe { … }'}}
  _ = property.sink { print($0) }
  // expected-error@+1 {{Use 'publisher.subscribe { … }'}}
  _ = source.sink { print($0) }
  // expected-error@+1 {{value of type 'PublishedProperty<Int>' has no member 'removeDuplicates'}}
  _ = property.removeDuplicates()
  // expected-error@+1 {{renamed to 'broadcast(_:)'}}
  source.accept(1)
  // expected-error@+1 {{Set the 'value'}}
  property.accept(1)
}

func types() {
  // expected-error@+1 {{Use 'BroadcastSource<Output>', and its 'publisher' to subscribe.}}
  _ = PassthroughSubject<Int, Never>()
  // expected-error@+1 {{Use 'PublishedProperty<Output>', and its 'publisher' to subscribe.}}
  _ = CurrentValueSubject<Int, Never>(1)
  // expected-error@+1 {{Use 'PublishedProperty<Element>', and its 'publisher' to subscribe.}}
  _ = BehaviorRelay<Int>(1)
  // expected-error@+1 {{Use 'SubscriptionBag'.}}
  _ = DisposeBag()
  // expected-error@+1 {{Use 'Broadcaster' for events, 'PublishedValue' for a current value}}
  func show(_ publisher: AnyPublisher<Int, Never>) {}
}

func methods(_ a: PublishedValue<Int>, _ b: PublishedValue<String>, _ taps: Broadcaster<Int>) {
  let both: PublishedValue<(Int, String)> = a.combineLatest(b)
  let text: PublishedValue<String> = a.combineLatest(b) { "\($0) \($1)" }
  let three: PublishedValue<(Int, String, Int)> = a.combineLatest(b, a)
  let merged: Broadcaster<Int> = taps.merge(with: a)
  let manyMerged: Broadcaster<Int> = a.merge(with: a, taps, taps)
  _ = (both, text, three, merged, manyMerged)
}

func operators(
  _ value: PublishedValue<Int>, _ taps: Broadcaster<Int>, _ load: PublishedTask<Int, any Error>
) {
  // expected-error@+1 {{A transform cannot throw.}}
  _ = value.tryMap { try checked($0) }
  // expected-error@+1 {{A transform cannot throw.}}
  _ = load.tryMap { _ in 1 }
  // expected-error@+1 {{Use 'task.recover { error in … }'}}
  _ = load.catch { _ in PublishedTask<Int, Never>.success(1) }
  // expected-error@+1 {{Create the task with 'PublishedTask.retrying(times: …) { … }'.}}
  _ = load.retry(3)
  // expected-error@+1 {{Use 'trace(…)'}}
  _ = value.print()
  // expected-error@+1 {{Use 'trace(…)'}}
  _ = value.print("value")
  // expected-error@+1 {{renamed to 'removeDuplicates()'}}
  _ = taps.distinctUntilChanged()
  // expected-error@+1 {{renamed to 'prepend(_:)'}}
  _ = taps.startWith(1)
  // expected-error@+1 {{renamed to 'dropFirst(_:)'}}
  _ = taps.skip(1)
  // expected-error@+1 {{renamed to 'prefix(_:)'}}
  _ = taps.take(1)
  // expected-error@+1 {{renamed to 'withLatest(from:)'}}
  _ = taps.withLatestFrom(value)
  // expected-error@+1 {{A task has one result. Use 'flatMap { … }'.}}
  _ = load.flatMapLatest { _ in load }
  // expected-error@+1 {{Delete the scheduler}}
  _ = taps.debounce(for: .seconds(1), scheduler: 1)
  // expected-error@+1 {{Delete the scheduler}}
  _ = taps.throttle(for: .seconds(1), scheduler: 1, latest: true)
  // expected-error@+1 {{Delete the scheduler}}
  _ = taps.delay(for: .seconds(1), scheduler: 1)
  // expected-error@+1 {{Use 'subscribe(_:onEnd:)'}}
  _ = taps.sink(receiveCompletion: { _ in }, receiveValue: { print($0) })
}

func checked(_ value: Int) throws -> Int { value }

func later(_ value: Int) async {}
func next(_ value: Int) async -> Int { value }

func asynchronousClosures(_ value: PublishedValue<Int>) {
  // expected-error@+1 {{Use 'subscribe(.bufferingNewest(1)) { … }'.}}
  _ = value.subscribe { await later($0) }
  // expected-error@+2 {{cannot pass function of type '@Sendable (Int) async -> Int'}}
  // expected-note@+1 {{'async' inferred from asynchronous operation used here}}
  _ = value.map { await next($0) }
}

func kinds(
  _ taps: Broadcaster<Int>, _ value: PublishedValue<Int>, _ load: PublishedTask<Int, Never>
) {
  // expected-error@+1 {{A broadcaster has no current value.}}
  _ = taps.current()
  // expected-error@+1 {{Use 'await task.result'}}
  _ = load.current()
  // expected-error@+1 {{Use 'filter { … }.publishedValue(initial: …)'.}}
  let even: PublishedValue<Int> = value.filter { $0 % 2 == 0 }
  // expected-error@+1 {{Use 'scan(…) { … }.publishedValue(initial: …)'.}}
  let sum: PublishedValue<Int> = taps.scan(0) { $0 + $1 }
  _ = (even, sum)
}

func evens(_ value: PublishedValue<Int>) -> PublishedValue<Int> {
  // expected-error@+1 {{Use 'filter { … }.publishedValue(initial: …)'.}}
  value.filter { $0 % 2 == 0 }
}

func sequences(_ value: PublishedValue<Int>) async {
  // expected-error@+1 {{for-in loop requires 'PublishedValue<Int>'}}
  for await number in value { print(number) }
  // expected-error@+1 {{Use 'values(.bufferingNewest(1))' for the newest update}}
  for await number in value.values { print(number) }
}

final class Model: Sendable {
  // expected-error@+1 {{stored property '_number' of 'Sendable'-conforming class 'Model' is mutable}}
  @PublishedProperty var number = 1
}

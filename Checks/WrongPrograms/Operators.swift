import MiniRex

struct Refused: Error {}
struct Denied: Error {}

func combinations(
  _ value: PublishedValue<Int>, _ taps: Broadcaster<Int>,
  _ load: PublishedTask<Int, Refused>, _ save: PublishedTask<String, Denied>,
  _ count: PublishedTask<Int, Denied>,
  _ loading: ProgressiveTask<Double, Int, Refused>,
  _ saving: ProgressiveTask<Double, String, Denied>
) {
  // expected-error@+1 {{Convert a broadcaster with 'broadcaster.publishedValue(initial: …)'}}
  _ = combineLatest(value, taps)
  // expected-error@+1 {{Convert a broadcaster with 'broadcaster.publishedValue(initial: …)'}}
  _ = combineLatest(taps, value) { $0 + $1 }
  // expected-error@+1 {{Convert a broadcaster with 'broadcaster.publishedValue(initial: …)'}}
  _ = combineLatest(value, value, taps)
  // expected-error@+1 {{Convert them with 'mapError { … }'}}
  _ = all(load, save)
  // expected-error@+1 {{Convert them with 'mapError { … }'}}
  _ = all(loading, saving)
  // expected-error@+2 {{cannot convert value of type}}
  // expected-note@+1 {{'Failure' ('Refused' and 'Denied') are expected to be equal}}
  _ = all([load, count])
}

func following(
  _ value: PublishedValue<Int>, _ taps: Broadcaster<Int>, _ load: PublishedTask<Int, Refused>
) {
  // expected-error@+1 {{'flatMap(limit: …)', or switch to the latest with 'flatMapLatest'}}
  _ = value.flatMap { _ in load }
  // expected-error@+1 {{'flatMap(limit: …)', or switch to the latest with 'flatMapLatest'}}
  _ = taps.flatMap { _ in load }
  // expected-error@+1 {{Use 'broadcaster.flatMapLatest { … }'}}
  _ = value.flatMapLatest { _ in load }
  // expected-error@+1 {{Use 'broadcaster.flatMapLatest { … }'}}
  _ = value.flatMapLatest { _ in taps }
}

func operatorsOfStreamsOnly(_ value: PublishedValue<Int>, _ load: PublishedTask<Int, Refused>) {
  // expected-error@+1 {{requires that 'TaskKind' conform to 'StreamKind'}}
  _ = value.withLatest(from: load)
  // expected-error@+1 {{requires that 'TaskKind' conform to 'StreamKind'}}
  _ = load.withLatest(from: value)
  // expected-error@+1 {{requires that 'TaskKind' conform to 'StreamKind'}}
  _ = load.removeDuplicates()
}

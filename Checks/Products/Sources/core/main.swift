import MiniRex

// Uses the parts of MiniRex that depend most on the runtime, and imports nothing else.
actor Counter {
  var count = 0
  func add(_ number: Int) { count += number }
}

let counter = Counter()
let source = BroadcastSource<Int>()
let property = PublishedProperty(1)
let sum = combineLatest(property.publisher, source.publisher.publishedValue(initial: 0)) { $0 + $1 }
let onActor = sum.subscribe(isolatedTo: counter) { counter, number in counter.add(number) }
let onMain = sum.subscribeOnMain { print($0) }
let merged = merge(source.publisher, property.publisher.dropFirst()).subscribe { print($0) }
source.broadcast(2)
property.modify { $0 += 1 }
await cancel(merged)
onMain.invalidate()
onActor.invalidate()

// Top-level code would select the synchronous overload.
func cancel(_ subscription: Subscription) async {
  await subscription.invalidateAndWait()
}

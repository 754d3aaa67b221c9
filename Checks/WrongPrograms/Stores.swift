import MiniRexStore

struct Counter: Sendable {
  var count = 0
}

func subscribing(_ store: Store<Counter, Bool>, _ plain: Store<Counter, Never>) {
  // expected-error@+1 {{Use 'publisher.subscribe { … }', or 'publisher(of: …).subscribe { … }' for a member.}}
  _ = store.subscribe { print($0) }
  // expected-error@+1 {{Use 'publisher.subscribe { … }', or 'publisher(of: …).subscribe { … }' for a member.}}
  _ = plain.sink { print($0) }
}

func writing(_ store: Store<Counter, Bool>, _ plain: Store<Counter, Never>) {
  // expected-error@+1 {{Use 'store.send(…)' to send an action}}
  store.count = 3
  // expected-error@+1 {{Use 'store.send(…)' to send an action}}
  store.count += 1
  plain.count = 3
  plain.count += store.count
}

import MiniRex

struct User: Sendable {}
struct Refused: Error {}
func show(_ user: User) {}

func closuresWithoutALabel(
  _ sure: PublishedTask<User, Never>, _ unsure: PublishedTask<User, Refused>
) {
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { show($0) }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { user in show(user) }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { user in
    print(user)
    show(user)
  }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { (user: User) in }
  // expected-error@+1 {{missing argument label 'success:'}}
  _ = sure.subscribe({ show($0) })
  // expected-error@+1 {{missing argument label 'success:'}}
  _ = sure.subscribe(show)
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { show($0) }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { user in show(user) }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { user in
    print(user)
    show(user)
  }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { (user: User) in }
  // expected-error@+1 {{(Result<User, Refused>) -> Void'}}
  _ = unsure.subscribe { (error: Refused) in }
  // expected-error@+1 {{missing argument label 'success:'}}
  _ = unsure.subscribe(show)
}

func closuresWithoutALabel(
  _ sure: ProgressiveTask<Int, User, Never>, _ unsure: ProgressiveTask<Int, User, Refused>
) {
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { show($0) }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { user in show(user) }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { user in
    print(user)
    show(user)
  }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe { (user: User) in }
  // expected-error@+1 {{Label the closure}}
  _ = sure.subscribe { (percent: Int) in }
  // expected-error@+1 {{closure without a label}}
  _ = sure.subscribe {
    show($0)
  } progress: {
    print($0)
  }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { show($0) }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { user in show(user) }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { user in
    print(user)
    show(user)
  }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe { (user: User) in }
  // expected-error@+1 {{Label the closure}}
  _ = unsure.subscribe { (percent: Int) in }
  // expected-error@+1 {{closure without a label}}
  _ = unsure.subscribe {
    show($0)
  } progress: {
    print($0)
  }
}

func ignoredFailures(
  _ task: PublishedTask<User, Refused>, _ steps: ProgressiveTask<Int, User, Refused>
) {
  // expected-error@+1 {{or 'failure: nil'}}
  _ = task.subscribe(success: { show($0) })
  // expected-error@+1 {{or 'failure: nil'}}
  _ = steps.subscribe(success: { show($0) })
  // expected-error@+1 {{Use 'subscribe(success: nil, failure: nil, progress: { … })'}}
  _ = steps.subscribe(progress: { print($0) })
  _ = steps.subscribe(failure: nil, progress: { print($0) })
  // expected-error@+1 {{or 'failure: nil'}}
  _ = steps.subscribe(success: { show($0) }, progress: { print($0) })
}

func operatorsOfStreamsOnly(_ steps: ProgressiveTask<Int, User, Refused>) {
  // expected-error@+1 {{Use 'throttleProgress(for: …)'}}
  _ = steps.throttle(for: .seconds(1))
}

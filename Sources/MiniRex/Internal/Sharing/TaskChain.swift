internal import Synchronization

/// The subscriptions of a run of `flatMap` or `recover`.
///
/// The latest is active.
///
/// A task that polls by recursion continues with a task that continues with the next, without end.
/// A run whose only member forwards its updates therefore hands its next task over to that member.
/// The chain then has one run at any time, as a tail call has one frame.
final class TaskChain<Output: Sendable>: SubscriptionHost {
  typealias Forward = @Sendable (WorkInlet<Output>, Output) -> Void

  private struct State {
    /// The latest subscription that has started, and its number.
    var input: Subscription?
    var inputNumber = 0
    var lastNumber = 0
    var startCount = 0
    var hasEnded = false
    /// The wait group of the cancellation, for the present subscription and for later ones.
    var group: WaitGroup?
    /// `true` if that group waits for the subscriptions in progress.
    var isAwaited = false
    /// A task from a run to which this chain is subscribing.
    var handover: TaskHandover<Output>?
    /// The last task that a run has handed over.
    var followed: NextTask<Output>?

    /// `true` if no later subscription is in progress.
    var isSettled: Bool { inputNumber == lastNumber }
  }

  private let state = Lock(State())
  /// The number of the subscription that received the last update.
  private let updateNumber = Atomic(0)
  let forward: Forward

  /// - Parameter forward: A closure that passes an update of a task to the run.
  init(_ forward: @escaping Forward) {
    self.forward = forward
  }

  /// Subscribes to the first task.
  func begin(_ inlet: WorkInlet<Output>, _ subscribe: @escaping @Sendable () -> Subscription) {
    ReleaseChain.run {
      connect { _ in subscribe() }
      finishHandovers(to: inlet)
    } later: {
      {
        self.connect { _ in subscribe() }
        self.finishHandovers(to: inlet)
      }
    }
  }

  /// Continues with a task, here or in the run that forwards the updates.
  func proceed(with task: NextTask<Output>, _ inlet: WorkInlet<Output>) {
    guard let forwarder = inlet.run.forwarder else { return follow(task, inlet) }
    let handover = TaskHandover(task, from: self, inlet, to: forwarder)
    if let task = forwarder.chain.take(handover) { forwarder.chain.follow(task, forwarder.inlet) }
  }

  fileprivate func follow(_ task: NextTask<Output>, _ inlet: WorkInlet<Output>) {
    ReleaseChain.run {
      subscribe(to: task, inlet)
    } later: {
      { self.subscribe(to: task, inlet) }
    }
  }

  private func subscribe(to task: NextTask<Output>, _ inlet: WorkInlet<Output>) {
    connect { TaskForwarder(self, inlet, $0).subscribe(to: task) }
    finishHandovers(to: inlet)
  }

  /// Subscribes to the tasks that runs have handed over during the subscription to them.
  private func finishHandovers(to inlet: WorkInlet<Output>) {
    while let handover = state.withLock({ $0.isSettled ? $0.handover.take() : nil }) {
      ReleaseChain.iterate {
        if let task = resolve(handover) {
          connect { TaskForwarder(self, inlet, $0).subscribe(to: task) }
        }
      }
    }
  }

  /// Subscribes unless the chain is canceled, and cancels the subscription if it is canceled since.
  ///
  /// The subscription replaces earlier ones, whose task has finished.
  ///
  /// - Parameter subscribe: A closure that receives the number of the subscription.
  private func connect(_ subscribe: (Int) -> Subscription) {
    let number = state.withLock { state -> Int? in
      if state.hasEnded { return nil }
      state.startCount += 1
      state.lastNumber += 1
      return state.lastNumber
    }
    guard let number else { return }
    let token = subscribe(number)
    // The replaced subscription is released after the lock.
    let (_, hasEnded, group) = state.withLock { state -> (Subscription?, Bool, WaitGroup?) in
      if state.hasEnded { return (nil, true, state.group) }
      state.startCount -= 1
      // The first task may have continued with the second before its subscription returns.
      if number < state.inputNumber { return (nil, false, nil) }
      let replaced = state.input
      state.input = token
      state.inputNumber = number
      return (replaced, false, nil)
    }
    guard hasEnded else { return }
    if let group { group.end(token) } else { token.invalidate() }
    let awaiting = state.withLock { state -> WaitGroup? in
      state.startCount -= 1
      guard state.startCount == 0, state.isAwaited else { return nil }
      state.isAwaited = false
      return state.group
    }
    awaiting?.leave()
  }

  /// Keeps a handover for a subscription in progress, or resolves it now.
  ///
  /// - Returns: The task, if this chain must follow it now.
  private func take(_ handover: TaskHandover<Output>) -> NextTask<Output>? {
    let isSettled = state.withLock { state in
      if !state.isSettled, !state.hasEnded {
        state.handover = handover
        return false
      }
      return true
    }
    return isSettled ? resolve(handover) : nil
  }

  /// Takes the place of the run that handed over its task, if this chain is its only member.
  ///
  /// - Returns: The task, unless that run must follow it.
  private func resolve(_ handover: TaskHandover<Output>) -> NextTask<Output>? {
    let membership = state.withLock { $0.input }?.host as? WorkMembership
    if membership?.handOver(handover) == true { return handover.task }
    handover.chain.follow(handover.task, handover.inlet)
    return nil
  }

  /// Passes an update of a task to the run.
  func pass(_ update: Output, of number: Int, to inlet: WorkInlet<Output>) {
    forward(inlet, update)
    // Afterward, so that the update is the latest of the run.
    updateNumber.store(number, ordering: .releasing)
  }

  /// Returns `true` if the subscription with the number, or a later one, has received an update.
  func hasUpdate(since number: Int) -> Bool { updateNumber.load(ordering: .acquiring) >= number }

  /// Declares the task that this chain follows from now on.
  ///
  /// Called under the lock of the work that hands it over.
  ///
  /// - Returns: The replaced task, which the caller releases after that lock.
  func willFollow(_ task: NextTask<Output>) -> NextTask<Output>? {
    state.withLock { state in
      if state.hasEnded { return nil }
      defer { state.followed = task }
      return state.followed
    }
  }

  /// The last task that a run has handed over, until the chain ends.
  var followed: NextTask<Output>? { state.withLock { $0.followed } }

  private var isCanceled: Bool { state.withLock { $0.hasEnded } }

  func isSubscribed(_ token: Subscription) -> Bool { !isCanceled }

  func end(_ token: Subscription) {
    let group = WaitGroup.current
    // The followed task is released after the lock.
    let (input, handover, _) = state.withLock {
      state -> (Subscription?, TaskHandover<Output>?, NextTask<Output>?) in
      if state.hasEnded { return (nil, nil, nil) }
      state.hasEnded = true
      state.group = group
      if state.startCount > 0, let group {
        group.enter()
        state.isAwaited = true
      }
      return (state.input.take(), state.handover.take(), state.followed.take())
    }
    input?.leave()
    if let handover, !handover.chain.isCanceled {
      handover.chain.follow(handover.task, handover.inlet)
    }
  }
}

/// A task that a run continues with, without its kind.
struct NextTask<Output: Sendable>: Sendable {
  let follow: @Sendable (@escaping @Sendable (Output) -> Void) -> Subscription
  /// `false` if an instrument watches the operator, which must then see the updates.
  let canBeHandedOver: Bool
}

/// The subscriber through which a run of a chain receives the updates of its present task.
///
/// It is constant.
final class TaskForwarder<Output: Sendable>: Sendable {
  let chain: TaskChain<Output>
  let inlet: WorkInlet<Output>
  /// The number of the subscription to the task.
  let number: Int

  init(_ chain: TaskChain<Output>, _ inlet: WorkInlet<Output>, _ number: Int) {
    self.chain = chain
    self.inlet = inlet
    self.number = number
  }

  func subscribe(to task: NextTask<Output>) -> Subscription {
    let (chain, inlet, number) = (chain, inlet, number)
    let receive: @Sendable (Output) -> Void = { chain.pass($0, of: number, to: inlet) }
    if !task.canBeHandedOver { return task.follow(receive) }
    return ForwardedCallback.declare(receive, for: self) { task.follow(receive) }
  }
}

/// The next task of a run, for the run that forwards its updates.
///
/// It is constant.
final class TaskHandover<Output: Sendable>: Sendable {
  let task: NextTask<Output>
  let chain: TaskChain<Output>
  let inlet: WorkInlet<Output>
  let continuation: TaskContinuation<Output>

  init(
    _ task: NextTask<Output>, from chain: TaskChain<Output>, _ inlet: WorkInlet<Output>,
    to forwarder: TaskForwarder<Output>
  ) {
    self.task = task
    self.chain = chain
    self.inlet = inlet
    continuation = TaskContinuation(forwarder)
  }
}

/// The run and the chain that follow the next task of a run, which has handed that task over.
///
/// A late subscriber follows the task that the chain follows by then, and shares its work with the
/// chain. The tasks between are not retained, so a chain of any length takes constant memory. It is
/// constant.
final class TaskContinuation<Output: Sendable>: Sendable {
  private let chain: TaskChain<Output>
  private let follower: WorkRun<Output>
  /// The number of the subscription to the run that has handed over its next task.
  private let number: Int

  init(_ forwarder: TaskForwarder<Output>) {
    chain = forwarder.chain
    follower = forwarder.inlet.run
    number = forwarder.number
  }

  /// `false` if the follower was canceled or has ended without a result, so the work starts again.
  var isValid: Bool { !follower.storage.hasFailedToFinish }

  /// Declares the next task, under the lock of the work that hands it over.
  ///
  /// - Returns: The replaced task, which the caller releases after the lock.
  func willFollow(_ task: NextTask<Output>) -> NextTask<Output>? { chain.willFollow(task) }

  /// Starts a run at the task that the chain follows, or finishes it with the result of the chain.
  ///
  /// The first member of the run joins later, and receives the latest update only.
  ///
  /// - Returns: `false` if the follower has ended since it was valid.
  func resume(_ run: WorkRun<Output>) -> Bool {
    // Read before the result, because the chain ends after it.
    let task = chain.followed
    let latest = chain.hasUpdate(since: number) ? follower.storage.current : nil
    if follower.storage.hasFinished, let result = follower.storage.current {
      run.attach(.ended)
      return run.finish(result)
    }
    guard let task else { return false }
    if let latest { run.storage.report(latest) }
    let chain = TaskChain(chain.forward)
    // Not handed over, because the member that forwards the updates would receive this progress twice.
    chain.follow(task, WorkInlet(run))
    run.attach(Subscription(chain))
    return true
  }
}

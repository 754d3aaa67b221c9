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

    /// `true` if no later subscription is in progress.
    var isSettled: Bool { inputNumber == lastNumber }
  }

  private let state = Lock(State())
  let forward: Forward

  /// - Parameter forward: A closure that passes an update of a task to the run.
  init(_ forward: @escaping Forward) {
    self.forward = forward
  }

  /// Subscribes to the first task.
  func begin(_ inlet: WorkInlet<Output>, _ subscribe: @escaping @Sendable () -> Subscription) {
    ReleaseChain.run {
      connect(subscribe)
      finishHandovers(to: inlet)
    } later: {
      {
        self.connect(subscribe)
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

  private func follow(_ task: NextTask<Output>, _ inlet: WorkInlet<Output>) {
    ReleaseChain.run {
      subscribe(to: task, inlet)
    } later: {
      { self.subscribe(to: task, inlet) }
    }
  }

  private func subscribe(to task: NextTask<Output>, _ inlet: WorkInlet<Output>) {
    connect { TaskForwarder(self, inlet).subscribe(to: task) }
    finishHandovers(to: inlet)
  }

  /// Subscribes to the tasks that runs have handed over during the subscription to them.
  private func finishHandovers(to inlet: WorkInlet<Output>) {
    while let handover = state.withLock({ $0.isSettled ? $0.handover.take() : nil }) {
      if let task = resolve(handover) {
        connect { TaskForwarder(self, inlet).subscribe(to: task) }
      }
    }
  }

  /// Subscribes, and cancels the subscription if the chain is canceled.
  ///
  /// The subscription replaces earlier ones, whose task has finished.
  private func connect(_ subscribe: () -> Subscription) {
    let number = state.withLock { state in
      state.startCount += 1
      state.lastNumber += 1
      return state.lastNumber
    }
    let token = subscribe()
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

  private var isCanceled: Bool { state.withLock { $0.hasEnded } }

  func isSubscribed(_ token: Subscription) -> Bool { !isCanceled }

  func end(_ token: Subscription) {
    let group = WaitGroup.current
    let (input, handover) = state.withLock { state -> (Subscription?, TaskHandover<Output>?) in
      if state.hasEnded { return (nil, nil) }
      state.hasEnded = true
      state.group = group
      if state.startCount > 0, let group {
        group.enter()
        state.isAwaited = true
      }
      return (state.input.take(), state.handover.take())
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

  init(_ chain: TaskChain<Output>, _ inlet: WorkInlet<Output>) {
    self.chain = chain
    self.inlet = inlet
  }

  func subscribe(to task: NextTask<Output>) -> Subscription {
    let (inlet, forward) = (inlet, chain.forward)
    let receive: @Sendable (Output) -> Void = { forward(inlet, $0) }
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
  /// The run that follows the task from now on.
  let follower: WorkRun<Output>

  init(
    _ task: NextTask<Output>, from chain: TaskChain<Output>, _ inlet: WorkInlet<Output>,
    to forwarder: TaskForwarder<Output>
  ) {
    self.task = task
    self.chain = chain
    self.inlet = inlet
    follower = forwarder.inlet.run
  }
}

/// The task with which a run continues after it has handed over its next task, and the run that
/// follows it.
///
/// A late subscriber follows the task itself, which shares its work with the follower. It is
/// constant.
final class TaskContinuation<Output: Sendable>: Sendable {
  private let task: NextTask<Output>
  private let follower: WorkRun<Output>
  private let forward: TaskChain<Output>.Forward
  /// The latest progress before the task.
  let latest: Output?

  init(_ handover: TaskHandover<Output>, latest: Output?) {
    task = handover.task
    follower = handover.follower
    forward = handover.chain.forward
    self.latest = latest
  }

  /// `false` if the follower was canceled or has ended without a result, so the task starts again.
  var isValid: Bool { !follower.storage.hasFailedToFinish }

  func start(_ inlet: WorkInlet<Output>) -> Subscription {
    let chain = TaskChain(forward)
    chain.proceed(with: task, inlet)
    return Subscription(chain)
  }
}

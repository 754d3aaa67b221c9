public import MiniRex

/// A publisher and its driver, for ``expectPublisherLaws(within:of:)``.
///
/// The publisher must emit the numbers that its driver sends. If its updates have another type, map them back
/// to numbers. If it combines several publishers, make the other publishers constant. A published value
/// starts with 0, and its driver sends other numbers.
public struct PublisherUnderTest: Sendable {
  let kind: KindUnderTest
  let follow:
    @Sendable (_ receive: @escaping Call, _ onEnd: (@Sendable () -> Void)?) -> Subscription
  let current: @Sendable () -> Int?
  let driver: LawDriver

  typealias Call = @Sendable (TrialEvent) -> Void

  private init<Update, Kind>(
    _ publisher: Publisher<Update, Kind>, _ kind: KindUnderTest, _ driver: LawDriver,
    current: @escaping @Sendable () -> Int? = { nil },
    event: @escaping @Sendable (Update) -> TrialEvent
  ) {
    self.kind = kind
    self.driver = driver
    self.current = current
    follow = { receive, onEnd in
      guard let onEnd else { return publisher.subscribe { receive(event($0)) } }
      return publisher.subscribe({ receive(event($0)) }, onEnd: onEnd)
    }
  }

  /// Creates a subject from a broadcaster or a published value.
  ///
  /// The closures may be called on any thread, even in a callback of the publisher.
  ///
  /// - Parameters:
  ///   - publisher: The publisher under test.
  ///   - conflates: `true` if the publisher may drop an update that another update follows before its
  ///     delivery, as `debounce` does. It must still emit the last update. The default is `false`.
  ///   - send: Makes the publisher emit the number.
  ///   - end: Finishes the publisher. The default is `nil`, for a publisher that cannot finish.
  ///   - flush: Delivers pending updates, for example by advancing a clock. The default is `nil`, for a
  ///     publisher that delivers automatically.
  ///   - subscriberCount: Returns the number of upstream subscriptions. It must be 0 after the last
  ///     subscription is canceled and the publisher is released. The default is `nil`: not checked.
  public init<Kind: StreamKind>(
    _ publisher: Publisher<Int, Kind>, conflates: Bool = false,
    send: @escaping @Sendable (Int) -> Void, end: (@Sendable () -> Void)? = nil,
    flush: (@Sendable () -> Void)? = nil, subscriberCount: (@Sendable () -> Int)? = nil
  ) {
    let driver = LawDriver(
      send: send, end: end, flush: flush, subscriberCount: subscriberCount, conflates: conflates)
    self.init(
      publisher, Kind.hasCurrentValue ? .publishedValue : .broadcaster, driver,
      current: { publisher.readCurrent() }
    ) {
      .update($0)
    }
  }

  /// Creates a subject from a broadcaster or a published value, driven by a broadcast source.
  public init<Kind: StreamKind>(
    _ publisher: Publisher<Int, Kind>, drivenBy source: BroadcastSource<Int>,
    conflates: Bool = false, flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      publisher, conflates: conflates, send: { source.broadcast($0) }, end: { source.end() },
      flush: flush, subscriberCount: { source.subscriberCount })
  }

  /// Creates a subject from a broadcaster or a published value, driven by a property that starts with 0.
  public init<Kind: StreamKind>(
    _ publisher: Publisher<Int, Kind>, drivenBy property: PublishedProperty<Int>,
    conflates: Bool = false, flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      publisher, conflates: conflates, send: { property.value = $0 }, end: { property.end() },
      flush: flush, subscriberCount: { property.subscriberCount })
  }

  /// Creates a subject from a task.
  ///
  /// - Parameters:
  ///   - task: The task under test. It must succeed with the number passed to `finish`.
  ///   - finish: Finishes the task. The first call follows a subscription. A second call must do nothing.
  ///   - end: Finishes the task without a result. The default is `nil`, for a task that always has one.
  ///   - flush: Delivers pending updates, as for a broadcaster.
  ///   - subscriberCount: Returns the number of upstream subscriptions, as for a broadcaster.
  public init<Failure>(
    _ task: PublishedTask<Int, Failure>, finish: @escaping @Sendable (Int) -> Void,
    end: (@Sendable () -> Void)? = nil, flush: (@Sendable () -> Void)? = nil,
    subscriberCount: (@Sendable () -> Int)? = nil
  ) {
    let driver = LawDriver(
      finish: finish, end: end, flush: flush, subscriberCount: subscriberCount)
    self.init(task, .task, driver) { .result($0) }
  }

  /// Creates a subject from a task, driven by a task source.
  public init<Failure, SourceFailure>(
    _ task: PublishedTask<Int, Failure>, drivenBy source: TaskSource<Int, SourceFailure>,
    flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      task, finish: { source.finish(.success($0)) }, flush: flush,
      subscriberCount: { source.subscriberCount })
  }

  /// Creates a subject from a task with progress.
  ///
  /// - Parameters:
  ///   - task: The task under test. It must report the progress passed to `report`, and succeed with the
  ///     number passed to `finish`.
  ///   - report: Makes the task report progress, while it has a subscriber.
  ///   - finish: Finishes the task, as for a task without progress.
  ///   - end: Finishes the task without a result, as for a task without progress.
  ///   - flush: Delivers pending updates, as for a broadcaster.
  ///   - subscriberCount: Returns the number of upstream subscriptions, as for a broadcaster.
  public init<Failure>(
    _ task: ProgressiveTask<Int, Int, Failure>, report: @escaping @Sendable (Int) -> Void,
    finish: @escaping @Sendable (Int) -> Void, end: (@Sendable () -> Void)? = nil,
    flush: (@Sendable () -> Void)? = nil, subscriberCount: (@Sendable () -> Int)? = nil
  ) {
    let driver = LawDriver(
      send: report, finish: finish, end: end, flush: flush, subscriberCount: subscriberCount)
    self.init(task, .progressiveTask, driver) { update in
      switch update {
      case .progress(let number): .update(number)
      case .finished(let result): .result(result)
      }
    }
  }

  /// Creates a subject from a task with progress, driven by a task source.
  public init<Failure, SourceFailure>(
    _ task: ProgressiveTask<Int, Int, Failure>,
    drivenBy source: ProgressiveTaskSource<Int, Int, SourceFailure>,
    flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      task, report: { source.report($0) }, finish: { source.finish(.success($0)) }, flush: flush,
      subscriberCount: { source.subscriberCount })
  }
}

/// The kind of a publisher.
enum KindUnderTest {
  case broadcaster, publishedValue, task, progressiveTask
}

/// The closures that control a publisher of any kind.
struct LawDriver: Sendable {
  var send: (@Sendable (Int) -> Void)?
  var finish: (@Sendable (Int) -> Void)?
  var end: (@Sendable () -> Void)?
  var flush: (@Sendable () -> Void)?
  var subscriberCount: (@Sendable () -> Int)?
  var conflates = false
}

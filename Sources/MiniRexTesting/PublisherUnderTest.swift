public import MiniRex

/// A publisher and what drives it; see ``expectPublisherLaws(within:of:)``.
///
/// The publisher passes on the numbers that it is sent. If its updates are something else, map them
/// back to numbers; if it combines several, let the others be constant. A published value begins
/// with 0, and is sent other numbers.
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

  /// A broadcaster or a published value.
  ///
  /// Any thread may call the closures, also a callback of the publisher.
  ///
  /// - Parameters:
  ///   - publisher: What is under test.
  ///   - conflates: True if an update may be left out when another follows before it is delivered,
  ///     as with `debounce`. The last one still comes.
  ///   - send: Makes it call with the number.
  ///   - end: Makes it end; `nil` if that cannot be done.
  ///   - flush: Brings what is under way to its subscribers, by advancing a clock for example. What
  ///     arrives by itself needs none.
  ///   - subscriberCount: How many subscribe to what it is made of: none, once nobody subscribes to
  ///     it and it is gone.
  public init<Kind: StreamKind>(
    _ publisher: Publisher<Int, Kind>, conflates: Bool = false,
    send: @escaping @Sendable (Int) -> Void, end: (@Sendable () -> Void)? = nil,
    flush: (@Sendable () -> Void)? = nil, subscriberCount: (@Sendable () -> Int)? = nil
  ) {
    let driver = LawDriver(
      send: send, end: end, flush: flush, subscriberCount: subscriberCount, conflates: conflates)
    self.init(
      publisher, Kind.hasCurrentValue ? .publishedValue : .broadcaster, driver,
      current: publisher.readCurrent
    ) {
      .update($0)
    }
  }

  /// A broadcaster or a published value that is made of a source of broadcasts.
  public init<Kind: StreamKind>(
    _ publisher: Publisher<Int, Kind>, drivenBy source: BroadcastSource<Int>,
    conflates: Bool = false, flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      publisher, conflates: conflates, send: { source.broadcast($0) }, end: { source.end() },
      flush: flush, subscriberCount: { source.subscriberCount })
  }

  /// A broadcaster or a published value that is made of a property, which begins with 0.
  public init<Kind: StreamKind>(
    _ publisher: Publisher<Int, Kind>, drivenBy property: PublishedProperty<Int>,
    conflates: Bool = false, flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      publisher, conflates: conflates, send: { property.value = $0 }, end: { property.end() },
      flush: flush, subscriberCount: { property.subscriberCount })
  }

  /// A task.
  ///
  /// - Parameters:
  ///   - task: What is under test. It succeeds with the number that it is finished with.
  ///   - finish: Finishes it. It is called when somebody subscribes, and again to no avail.
  ///   - end: Makes it end without a result; `nil` if that cannot be done.
  ///   - flush: As for a broadcaster.
  ///   - subscriberCount: As for a broadcaster.
  public init<Failure>(
    _ task: PublishedTask<Int, Failure>, finish: @escaping @Sendable (Int) -> Void,
    end: (@Sendable () -> Void)? = nil, flush: (@Sendable () -> Void)? = nil,
    subscriberCount: (@Sendable () -> Int)? = nil
  ) {
    let driver = LawDriver(
      finish: finish, end: end, flush: flush, subscriberCount: subscriberCount)
    self.init(task, .task, driver) { .result($0) }
  }

  /// A task that is made of one that you finish by hand.
  public init<Failure, SourceFailure>(
    _ task: PublishedTask<Int, Failure>, drivenBy source: TaskSource<Int, SourceFailure>,
    flush: (@Sendable () -> Void)? = nil
  ) {
    self.init(
      task, finish: { source.finish(.success($0)) }, flush: flush,
      subscriberCount: { source.subscriberCount })
  }

  /// A task with progress.
  ///
  /// - Parameters:
  ///   - task: What is under test. It tells the progress that it is sent, and succeeds with the
  ///     number that it is finished with.
  ///   - report: Makes it tell progress, while somebody subscribes.
  ///   - finish: As for a task without progress.
  ///   - end: As for a task without progress.
  ///   - flush: As for a broadcaster.
  ///   - subscriberCount: As for a broadcaster.
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

  /// A task with progress that is made of one that you finish by hand.
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

/// The kinds, as values.
enum KindUnderTest {
  case broadcaster, publishedValue, task, progressiveTask
}

/// What drives a publisher, whatever its kind.
struct LawDriver: Sendable {
  var send: (@Sendable (Int) -> Void)?
  var finish: (@Sendable (Int) -> Void)?
  var end: (@Sendable () -> Void)?
  var flush: (@Sendable () -> Void)?
  var subscriberCount: (@Sendable () -> Int)?
  var conflates = false
}

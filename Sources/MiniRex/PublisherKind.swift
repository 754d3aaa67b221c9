/// The promise of a publisher about its updates.
///
/// See ``Publisher``.
///
/// The library defines all four kinds. Other types cannot conform usefully, because only the
/// library creates publishers of a kind.
///
/// Code that is generic over `Kind: PublisherKind` can subscribe. To call operators, require a
/// ``StreamKind``, or start with ``Publisher/broadcaster``.
public protocol PublisherKind: SendableMetatype {}

/// A kind with any number of updates: broadcasters and published values.
public protocol StreamKind: PublisherKind {
  /// A Boolean value that indicates whether a subscriber receives the current value on subscribing,
  /// and then only changes.
  static var hasCurrentValue: Bool { get }
}

/// The kind of a publisher that emits events and has no current value.
///
/// See ``Broadcaster``.
public enum BroadcasterKind: StreamKind {
  /// `false`: a subscriber receives every update after it subscribed, duplicates included.
  @inlinable public static var hasCurrentValue: Bool { false }
}

/// The kind of a publisher that emits the current value, then each change.
///
/// See ``PublishedValue``.
public enum PublishedValueKind: StreamKind {
  /// `true`: values that equal the previous value are skipped.
  @inlinable public static var hasCurrentValue: Bool { true }
}

/// The kind of a publisher that emits one result.
///
/// See ``PublishedTask``.
public enum TaskKind: PublisherKind {}

/// The kind of a publisher that emits progress, then one result.
///
/// See ``ProgressiveTask``.
public enum ProgressiveTaskKind: PublisherKind {}

/// A publisher that emits events and has no current value.
public typealias Broadcaster<Update: Sendable> = Publisher<Update, BroadcasterKind>

/// A publisher that emits the current value to each new subscriber, then each change.
public typealias PublishedValue<Value: Sendable> = Publisher<Value, PublishedValueKind>

/// A publisher that emits one result, even to late subscribers.
///
/// ![a task emits its result to late subscribers](task.svg)
public typealias PublishedTask<Success: Sendable, Failure: Error> =
  Publisher<Result<Success, Failure>, TaskKind>

/// A publisher that emits progress, then one result.
public typealias ProgressiveTask<Progress: Sendable, Success: Sendable, Failure: Error> =
  Publisher<TaskUpdate<Progress, Success, Failure>, ProgressiveTaskKind>

/// An update of a ``ProgressiveTask``.
public enum TaskUpdate<Progress: Sendable, Success: Sendable, Failure: Error>: Sendable {
  /// The work made progress.
  ///
  /// Progress never follows the result.
  case progress(Progress)
  /// The work finished.
  ///
  /// The result is the last update.
  case finished(Result<Success, Failure>)
}

extension TaskUpdate: Equatable
where Progress: Equatable, Success: Equatable, Failure: Equatable {}

extension TaskUpdate: Hashable where Progress: Hashable, Success: Hashable, Failure: Hashable {}

/// What a publisher promises about its calls; see ``Publisher``.
///
/// The four kinds of the library are all there are: a publisher keeps the promise of its kind
/// because nobody else can make one.
///
/// Code that is generic over `Kind: PublisherKind` can subscribe; to call operators, ask for a
/// ``StreamKind`` or begin with ``Publisher/broadcaster``.
public protocol PublisherKind: SendableMetatype {}

/// A kind whose updates come one by one: broadcasters and published values.
public protocol StreamKind: PublisherKind {
  /// True if a subscriber is called at once with the value that is current, and then with changes
  /// only.
  static var hasCurrentValue: Bool { get }
}

/// Calls whenever there is something to tell; see ``Broadcaster``.
public enum BroadcasterKind: StreamKind {
  /// False: a subscriber is called with what comes, and every update counts.
  @inlinable public static var hasCurrentValue: Bool { false }
}

/// Calls at once with the current value, then with each change; see ``PublishedValue``.
public enum PublishedValueKind: StreamKind {
  /// True: what equals the value before it is left out.
  @inlinable public static var hasCurrentValue: Bool { true }
}

/// Calls once with a result; see ``PublishedTask``.
public enum TaskKind: PublisherKind {}

/// Calls with progress, then once with a result; see ``ProgressiveTask``.
public enum ProgressiveTaskKind: PublisherKind {}

/// Makes no promise when it calls.
public typealias Broadcaster<Update: Sendable> = Publisher<Update, BroadcasterKind>

/// Calls each subscriber once with the value that is current when it subscribes, then with each
/// change.
public typealias PublishedValue<Value: Sendable> = Publisher<Value, PublishedValueKind>

/// Calls each subscriber with one result, even those who subscribe after it came.
public typealias PublishedTask<Success: Sendable, Failure: Error> =
  Publisher<Result<Success, Failure>, TaskKind>

/// Calls each subscriber with progress while there is any, then with one result.
public typealias ProgressiveTask<Progress: Sendable, Success: Sendable, Failure: Error> =
  Publisher<TaskUpdate<Progress, Success, Failure>, ProgressiveTaskKind>

/// What a ``ProgressiveTask`` tells: how far it is, and in the end its result.
public enum TaskUpdate<Progress: Sendable, Success: Sendable, Failure: Error>: Sendable {
  /// How far the work is; never after the result.
  case progress(Progress)
  /// The result; nothing comes after it.
  case finished(Result<Success, Failure>)
}

extension TaskUpdate: Equatable
where Progress: Equatable, Success: Equatable, Failure: Equatable {}

extension TaskUpdate: Hashable where Progress: Hashable, Success: Hashable, Failure: Hashable {}

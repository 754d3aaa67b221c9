/// An event of an observed source, or of a traced publisher.
public struct InstrumentEvent: Sendable, CustomStringConvertible {
  /// The kind of an event.
  public enum Kind: Hashable, Sendable {
    /// A subscription is about to start.
    case subscribed
    /// A callback ran and returned.
    case delivered
    /// A subscription was canceled or its source finished, and its callback is released.
    case unsubscribed
    /// Updates were dropped: the bounded buffer of a loop or of a dispatcher was full, or the
    /// source had finished.
    case dropped(Int)
    /// The given number of updates is queued for the delivering thread.
    ///
    /// With a subscription, it is queued for its loop, its queue, or its actor.
    case backlog(Int)
    /// An effect of a store threw an error, with this description.
    case failed(String)
    /// The source was released or finished.
    case sourceFinished
  }

  /// The kind of the event.
  public let kind: Kind
  /// The name of the source, its type if it has none, or the label of the trace.
  ///
  /// For an operator with several sources, such as `merge`, it is the name of the operator.
  public let label: String
  /// The name of the source, or the names of all sources of an operator that joins them.
  ///
  /// In contrast to ``label``, it is never the name of a trace or an operator.
  public let source: String
  /// The name of the operator or of the form of `subscribe` whose buffer is full or drops updates, or
  /// `nil` if the queue of the source is meant and for other events.
  public let operation: String?
  /// The place where the source or the trace is created, or `nil` for an operator with several
  /// sources.
  public let place: CodePlace?
  /// The identifier of the source or the trace, unique in the process.
  public let origin: Int
  /// The identifier of the subscription, the same at each trace of its chain, or `nil` if the event
  /// concerns none.
  public let subscription: Int?
  /// The place of the `subscribe` call, or `nil` if it is unknown or the event concerns no
  /// subscription.
  public let subscriber: CodePlace?

  /// The event in one line, such as `lines: delivered to #7, Tail/main.swift:12`.
  public var description: String {
    let who = subscription.map { "#\($0)" } ?? "nobody"
    let place = (subscriber ?? place).map { ", \($0)" } ?? ""
    return switch kind {
    case .subscribed: "\(label): subscribed by \(who)\(place)"
    case .delivered: "\(label): delivered to \(who)\(place)"
    case .unsubscribed: "\(label): unsubscribed for \(who)\(place)"
    case .dropped(let count): "\(full): dropped \(count)\(place)"
    case .backlog(let depth): "\(full): \(depth) pending\(place)"
    case .failed(let error): "\(label): an effect failed with \(error)\(place)"
    case .sourceFinished: "\(label): finished\(place)"
    }
  }

  /// The names of the source and of the operator.
  private var full: String {
    let origin = label == source ? label : "\(label) of \(source)"
    return operation.map { "\(origin), \($0)" } ?? origin
  }
}

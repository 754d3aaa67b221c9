/// Something that happens to a watched source, or to a publisher that is traced.
public struct InstrumentEvent: Sendable, CustomStringConvertible {
  /// What can happen.
  public enum Kind: Hashable, Sendable {
    /// Somebody is about to subscribe.
    case subscribed
    /// A callback has been called, and has returned.
    case delivered
    /// A subscription has ended, by its token or with its source, and its callback is released.
    case ended
    /// Updates are lost: the bounded buffer of a loop or of a hop was full, or the source had ended.
    case dropped(Int)
    /// As many updates wait for the thread that delivers; or, if it is about a subscription, for its
    /// loop, its queue or its actor.
    case backlog(Int)
    /// The source was released, or told to end.
    case sourceGone
  }

  /// What it is.
  public let kind: Kind
  /// The name of the source, or its type if it has none; the label of the trace.
  ///
  /// Where an operator such as `merge` has joined several sources, it is the name of that operator.
  public let label: String
  /// Where the source was made, or the trace is written; `nil` for an operator
  /// that has joined several sources.
  public let place: CodePlace?
  /// The number of this source, or trace; there is no other with it in the process.
  public let origin: Int
  /// The number of the subscription, the same in all that is traced on its way; `nil` if it is not
  /// about one.
  public let subscription: Int?
  /// Where the subscription is written; `nil` if it is not about one, or that is not known.
  public let subscriber: CodePlace?

  /// In one line, `lines: delivered to #7, Tail/main.swift:12`.
  public var description: String {
    let who = subscription.map { "#\($0)" } ?? "nobody"
    let place = (subscriber ?? place).map { ", \($0)" } ?? ""
    return switch kind {
    case .subscribed: "\(label): subscribed by \(who)\(place)"
    case .delivered: "\(label): delivered to \(who)\(place)"
    case .ended: "\(label): ended for \(who)\(place)"
    case .dropped(let count): "\(label): dropped \(count)\(place)"
    case .backlog(let depth): "\(label): \(depth) wait\(place)"
    case .sourceGone: "\(label): gone\(place)"
    }
  }
}

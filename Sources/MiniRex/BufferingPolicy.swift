/// How many updates wait for a loop, a queue or an actor that is slower than its publisher.
///
/// `values(_:)` has no default: what a loop may miss, or how much memory it may take, is for you to
/// say. Where an update only changes threads, as in `receive(on:buffering:)`, all of them wait unless
/// you say otherwise.
public struct BufferingPolicy<Kind: PublisherKind>: Sendable {
  @usableFromInline package let limit: BufferLimit

  /// Keeps the newest updates, at most `limit` of them: each one more drops the oldest that waits.
  ///
  /// With a limit of 1, whoever was busy goes on with the latest, and a loop that waits gets the next
  /// that comes, even when more follow at once. A limit below 1 stops the program.
  public static func bufferingNewest(_ limit: Int) -> BufferingPolicy {
    requireRoom(limit, of: "bufferingNewest")
    return BufferingPolicy(limit: .newest(limit))
  }

  /// Keeps all updates until they are taken.
  ///
  /// The memory has no limit: look at ``PublisherValues/bufferedCount``, or at
  /// ``Subscription/pendingUpdates``.
  public static var unbounded: BufferingPolicy {
    BufferingPolicy(limit: .none)
  }
}

extension BufferingPolicy where Kind == BroadcasterKind {
  /// Keeps the oldest updates, at most `limit` of them: what comes while they wait is dropped.
  ///
  /// Only a broadcaster has this policy, because what it drops is what the other kinds promise: the
  /// latest value, or the result. `publisher.broadcaster` forgets that promise. A limit below 1
  /// stops the program.
  public static func bufferingOldest(_ limit: Int) -> BufferingPolicy {
    requireRoom(limit, of: "bufferingOldest")
    return BufferingPolicy(limit: .oldest(limit))
  }
}

@usableFromInline
package enum BufferLimit: Sendable {
  case newest(Int)
  case oldest(Int)
  case none
}

private func requireRoom(_ limit: Int, of policy: StaticString) {
  if limit < 1 {
    misuse(
      "'\(policy)' takes a limit of 1 or more, not \(limit). "
        + "For whoever must not miss anything there is 'unbounded'.")
  }
}

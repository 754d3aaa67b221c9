/// How many updates wait for a loop that is slower than its publisher; see `values(_:)`.
///
/// There is no default: what a loop may miss, or how much memory it may take, is for you to say.
public struct BufferingPolicy<Kind: PublisherKind>: Sendable {
  @usableFromInline let limit: BufferLimit

  /// Keeps the newest updates, at most `limit` of them: each one more drops the oldest that waits.
  ///
  /// With a limit of 1, a loop that was busy goes on with the latest, and one that waits gets the
  /// next that comes, even when more follow at once. A limit below 1 stops the program.
  public static func bufferingNewest(_ limit: Int) -> BufferingPolicy {
    requireRoom(limit, of: "bufferingNewest")
    return BufferingPolicy(limit: .newest(limit))
  }

  /// Keeps all updates until the loop takes them.
  ///
  /// The memory has no limit: look at ``PublisherValues/bufferedCount``.
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
enum BufferLimit: Sendable {
  case newest(Int)
  case oldest(Int)
  case none
}

private func requireRoom(_ limit: Int, of policy: StaticString) {
  if limit < 1 {
    misuse(
      "'\(policy)' takes a limit of 1 or more, not \(limit). "
        + "For a loop that must not miss anything there is 'unbounded'.")
  }
}

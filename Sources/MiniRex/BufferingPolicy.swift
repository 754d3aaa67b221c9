/// A policy for updates that a slower loop, queue, or actor has not processed yet.
///
/// `values(_:)` has no default, because only you know which updates a loop may miss and how much
/// memory it may use. Dispatch, as in `receive(on:buffering:)`, is unbounded by default.
public struct BufferingPolicy<Kind: PublisherKind>: Sendable {
  @usableFromInline package let limit: BufferLimit

  /// Drops the oldest queued update when the buffer has `limit` updates.
  ///
  /// With a limit of 1, a busy consumer continues with the latest update. A waiting loop receives
  /// the next update, even if more follow immediately. Traps if `limit` is less than 1.
  public static func bufferingNewest(_ limit: Int) -> BufferingPolicy {
    requireRoom(limit, of: "bufferingNewest")
    return BufferingPolicy(limit: .newest(limit))
  }

  /// Keeps all updates until they are processed.
  ///
  /// The memory is unbounded. Watch ``PublisherValues/bufferedCount`` or
  /// ``Subscription/pendingUpdates``.
  public static var unbounded: BufferingPolicy {
    BufferingPolicy(limit: .none)
  }
}

extension BufferingPolicy where Kind == BroadcasterKind {
  /// Drops new updates while the buffer has `limit` updates.
  ///
  /// Only broadcasters have this policy, because it drops the updates that the other kinds promise:
  /// the latest value, or the result. `publisher.broadcaster` converts the kind. Traps if `limit`
  /// is less than 1.
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
  case suspending(SuspendingLimit)

  var dropsOldest: Bool { if case .newest = self { true } else { false } }
}

func requireRoom(_ limit: Int, of policy: StaticString) {
  if limit < 1 {
    misuse(
      "'\(policy)' requires a limit of 1 or more, not \(limit). "
        + "Use 'unbounded' to keep all updates.")
  }
}

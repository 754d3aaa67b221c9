package import MiniRex

/// Where an adapter tells what the platform has called it with; see `LazySource`.
package typealias Connection<Update: Sendable> = WorkInlet<Update>

/// A source that connects to the platform with its first subscriber, and disconnects with its last.
///
/// However many they are, the platform has one registration: who is called, and in which order, is
/// for the delivery behind it to say. When it has let go of the connection, the subscriptions end.
package struct LazySource<Update: Sendable> {
  private let work: SharedWork<Update>

  /// - Parameter connect: Registers with the platform, and gives the token that takes the
  ///   registration back.
  package init(connect: @escaping SharedWork<Update>.Start) {
    work = SharedWork(remembersProgress: false, start: connect)
  }

  /// - Parameter lineage: What it adapts, and where that is written, if it is watched.
  package func publisher(watchedBy lineage: Lineage?) -> Broadcaster<Update> {
    Broadcaster(watchedBy: lineage, sharing: work)
  }
}

extension WorkInlet {
  /// Called by the platform.
  package func broadcast(_ update: Update) {
    report(update)
  }

  /// What it was to connect to is gone already.
  package func refuse(with last: Update? = nil) -> Subscription {
    end(with: last)
    return .ended
  }
}

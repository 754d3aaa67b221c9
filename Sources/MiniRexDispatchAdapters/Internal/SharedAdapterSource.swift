package import MiniRex

/// The entry through which an adapter sends the updates of the platform.
///
/// See `SharedAdapterSource`.
package typealias Connection<Update: Sendable> = WorkInlet<Update>

/// A source that connects to the platform with its first subscriber, and disconnects with its last.
///
/// The platform has one registration for all subscribers. The delivery behind it orders and
/// distributes the updates. Releasing the connection finishes the publisher.
package struct SharedAdapterSource<Update: Sendable> {
  private let work: SharedWork<Update>

  /// - Parameter connect: A closure that registers with the platform, and returns the subscription
  ///   that removes the registration.
  package init(connect: @escaping SharedWork<Update>.Start) {
    work = SharedWork(remembersProgress: false, start: connect)
  }

  /// - Parameter lineage: The lineage of the adapted object, if an instrument observes it.
  package func publisher(watchedBy lineage: Lineage?) -> Broadcaster<Update> {
    Broadcaster(watchedBy: lineage, sharing: work)
  }
}

extension WorkInlet {
  /// Sends an update of the platform.
  package func broadcast(_ update: Update) {
    report(update)
  }

  /// Finishes immediately, because the adapted object no longer exists.
  package func refuse(with last: Update? = nil) -> Subscription {
    end(with: last)
    return .ended
  }
}

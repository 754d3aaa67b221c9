internal import MiniRex

/// Where an adapter tells what the platform has called it with; see `LazySource`.
typealias Connection<Update: Sendable> = WorkInlet<Update>

/// A source that connects to the platform with its first subscriber, and disconnects with its last.
///
/// However many they are, the platform has one registration: who is called, and in which order, is
/// for the delivery behind it to say. When it has let go of the connection, the subscriptions end.
struct LazySource<Update: Sendable> {
  let publisher: Broadcaster<Update>

  /// - Parameters:
  ///   - name: What an instrument calls it; it is not watched without one.
  ///   - place: Where the user has made it.
  ///   - connect: Registers with the platform, and gives the token that takes the registration back.
  init(
    name: String? = nil, at place: CodePlace? = nil, connect: @escaping SharedWork<Update>.Start
  ) {
    publisher = Broadcaster(
      starting: SharedWork(remembersProgress: false, start: connect), name: name, at: place)
  }
}

extension WorkInlet {
  /// Called by the platform.
  func broadcast(_ update: Update) {
    report(update)
  }

  /// What it was to connect to is gone already.
  func refuse(with last: Update? = nil) -> Subscription {
    end(with: last)
    return .ended
  }
}

/// Decides, under the lock of a valve, which sender may deliver.
///
/// It knows no tasks and no updates, so a test can search all of its states.
///
/// - `hasSender` implies that one sender is between its check and its delivery.
/// - While nothing holds the valve and no sender is inside, no sender is suspended.
package struct ValveState<Sender> {
  package enum Entry {
    case entered
    /// Suspended, with the number of its place.
    case suspended(UInt)
    case refused
  }

  /// The number of full subscribers, and of connections in progress.
  package private(set) var holds = 0
  package private(set) var hasSender = false
  package private(set) var hasEnded = false
  /// The suspended senders by place, each between `first` and `next`.
  package private(set) var suspended: [UInt: Sender] = [:]
  private var first: UInt = 0
  private var next: UInt = 0

  package init() {}

  /// `true` if `offer` may send.
  package var admitsOffer: Bool { holds == 0 && suspended.isEmpty && !hasEnded }

  /// `true` if a sender may enter by an exchange of the word of the valve, without the lock.
  package var isIdle: Bool { admitsOffer }

  /// Registers a sender that has entered by an exchange of the word.
  package mutating func register() { hasSender = true }

  /// Hands the sender back to the word.
  ///
  /// Returns `true` if there is one.
  package mutating func unregister() -> Bool {
    defer { hasSender = false }
    return hasSender
  }

  package mutating func enter(_ sender: Sender) -> Entry {
    if hasEnded { return .refused }
    if !hasSender, admitsOffer {
      hasSender = true
      return .entered
    }
    suspended[next] = sender
    next += 1
    return .suspended(next - 1)
  }

  /// Returns the sender that takes the place, to be resumed after the lock.
  package mutating func leave() -> Sender? {
    hasSender = false
    return admitNext()
  }

  package mutating func hold() { holds += 1 }

  /// Returns the sender that may continue, to be resumed after the lock.
  package mutating func release() -> Sender? {
    holds -= 1
    return admitNext()
  }

  /// Removes a suspended sender.
  ///
  /// Returns `nil` if it has already been resumed.
  package mutating func remove(_ place: UInt) -> Sender? {
    let sender = suspended.removeValue(forKey: place)
    if suspended.isEmpty { first = next }
    return sender
  }

  /// Admits a suspended sender that must not wait for the holds.
  ///
  /// Returns `nil` if another sender is inside, or if it has already been resumed.
  package mutating func admit(_ place: UInt) -> Sender? {
    if hasSender { return nil }
    guard let sender = remove(place) else { return nil }
    hasSender = true
    return sender
  }

  /// Refuses all senders from now on.
  ///
  /// Returns the suspended ones, to be resumed after the lock.
  package mutating func end() -> [Sender] {
    hasEnded = true
    let senders = suspended.sorted { $0.key < $1.key }.map(\.value)
    suspended = [:]
    first = next
    return senders
  }

  /// The suspended senders in their order.
  package var places: [UInt] { suspended.keys.sorted() }

  private mutating func admitNext() -> Sender? {
    if hasSender || holds > 0 || suspended.isEmpty { return nil }
    while first < next {
      defer { first += 1 }
      if let sender = suspended.removeValue(forKey: first) {
        hasSender = true
        return sender
      }
    }
    return nil
  }
}

extension ValveState: Equatable where Sender: Equatable {}
extension ValveState: Hashable where Sender: Hashable {}
extension ValveState: Sendable where Sender: Sendable {}
extension ValveState.Entry: Equatable {}

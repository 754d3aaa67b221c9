internal import Synchronization

/// A publisher that does not report changes of its value to computed values.
///
/// Examples are the results of `debounce` and `share`, and the states of stores. Computed values
/// read it through a storage that repeats its value. While one of them has a subscriber, the
/// storage follows the publisher. Otherwise, each inspection reads the publisher.
///
/// There is one storage for each publisher, so that all computed values agree on its value.
@usableFromInline
package final class UntrackedOrigin: Sendable {
  private struct State {
    var memberCount = 0
    var connection: Subscription?
  }

  private let state = Lock(State())
  private let hasMembers = Atomic(false)
  private let hasFirstValue = Atomic(false)

  let identity: PublisherIdentity
  /// Retained, so that its identity is unique while the storage is in memory.
  fileprivate let publisher: any UntrackedPublisher

  fileprivate init(_ publisher: any UntrackedPublisher, _ identity: PublisherIdentity) {
    self.publisher = publisher
    self.identity = identity
  }

  deinit {
    UntrackedOrigin.remove(identity)
  }

  /// `true` if the storage repeats the value automatically.
  var isConnected: Bool { hasFirstValue.load(ordering: .acquiring) }

  /// `true` if the storage repeats the value, or is about to.
  var isConnecting: Bool { hasMembers.load(ordering: .acquiring) }

  /// The subscription to the publisher.
  var connection: Subscription? { state.withLock { $0.connection } }

  /// Subscribes to the publisher for the first member.
  func join(_ storage: VersionedStorage) {
    let isFirst = state.withLock { state in
      state.memberCount += 1
      if state.memberCount == 1 { hasMembers.store(true, ordering: .releasing) }
      return state.memberCount == 1
    }
    guard isFirst else { return }
    let connection = publisher.connect(storage)
    let isNeeded = state.withLock { state in
      if state.memberCount == 0 || state.connection != nil { return false }
      state.connection = connection
      hasFirstValue.store(true, ordering: .releasing)
      return true
    }
    if !isNeeded { connection.invalidate() }
  }

  /// Cancels the subscription to the publisher after the last member.
  func leave() {
    let connection = state.withLock { state -> Subscription? in
      state.memberCount -= 1
      guard state.memberCount == 0 else { return nil }
      hasMembers.store(false, ordering: .releasing)
      hasFirstValue.store(false, ordering: .releasing)
      return state.connection.take()
    }
    connection?.invalidate()
  }
}

extension UntrackedOrigin {
  private static let storages = Lock<[PublisherIdentity: WeakStorage]>([:])

  /// Returns the storage that repeats the value, or `nil` if the publisher has none.
  ///
  /// - Parameter last: The storage that the previous run read at the same place. If it fits, the
  ///   table of all storages is not used.
  static func storage<Value, Kind>(
    of publisher: Publisher<Value, Kind>, last: VersionedStorage?
  ) -> PropertyStorage<Value>? {
    let identity = PublisherIdentity(publisher)
    let fits = last?.origin?.identity == identity
    let known = fits ? last : storages.withLock { $0[identity]?.storage }
    if let known, known.source?.hasEnded == false {
      return unsafe unsafeDowncast(known, to: PropertyStorage<Value>.self)
    }
    guard let value = publisher.readCurrent() else { return nil }
    let origin = UntrackedOrigin(publisher, identity)
    let storage = PropertyStorage(value, repeating: origin)
    // Another thread may have created a storage.
    let winner = storages.withLock { storages -> VersionedStorage in
      if let other = storages[identity]?.storage, other !== known { return other }
      storages[identity] = WeakStorage(storage)
      return storage
    }
    return unsafe unsafeDowncast(winner, to: PropertyStorage<Value>.self)
  }

  fileprivate static func remove(_ identity: PublisherIdentity) {
    // This may be the last reference to a newer storage, whose `deinit` calls this function.
    let present = storages.withLock { storages in
      let present = storages[identity]?.storage
      if present == nil { storages[identity] = nil }
      return present
    }
    withExtendedLifetime(present) {}
  }
}

private struct WeakStorage: Sendable {
  weak let storage: VersionedStorage?

  init(_ storage: VersionedStorage) {
    self.storage = storage
  }
}

/// A publisher without its type.
private protocol UntrackedPublisher: Sendable {
  /// Returns the current value, whose type is `Value`.
  func readValue<Value>(as _: Value.Type) -> Value?

  /// Subscribes the storage to the publisher.
  func connect(_ storage: VersionedStorage) -> Subscription
}

extension Publisher: UntrackedPublisher {
  fileprivate func readValue<Value>(as _: Value.Type) -> Value? { readCurrent() as? Value }

  fileprivate func connect(_ storage: VersionedStorage) -> Subscription {
    let storage = unsafe unsafeDowncast(storage, to: PropertyStorage<Update>.self)
    return follow {
      storage.set($0)
    } onEnd: {
      storage.delivery.end()
    }
  }
}

extension PropertyStorage {
  /// Reads the publisher, and stores a changed value, unless a connection or another thread stores
  /// its own.
  func refreshedRecord(_ origin: UntrackedOrigin) -> TypedValueRecord<Value> {
    let known = snapshot
    guard let value = origin.publisher.readValue(as: Value.self) else {
      return TypedValueRecord(known.value, of: self, version: known.version)
    }
    if !delivery.comparison.isChange(from: known.value, to: value) {
      return TypedValueRecord(known.value, of: self, version: known.version)
    }
    var replaced = value
    let version = withLock { _ -> UInt? in
      // A connection, or another thread, stores its own value.
      if origin.isConnecting || presentVersion != known.version {
        return nil
      }
      unsafe swap(&self.value, &replaced)
      advance(inPlace: false)
      return presentVersion
    }
    // A record of no version is inspected again by its next reader.
    return TypedValueRecord(value, of: self, version: version ?? .max)
  }
}

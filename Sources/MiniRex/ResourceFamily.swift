/// Resources with keys, such as the users with their identifiers.
///
/// ```swift
/// let users = ResourceFamily(staleAfter: .seconds(60), clock: clock) { (id: User.ID) in
///   try await load(id)
/// }
/// let name = users[7].publisher.map { $0.value?.name ?? "…" }
/// ```
///
/// A key has one ``Resource`` while it is used: while you retain it, while it has a subscriber, and
/// while it loads. An unused resource is kept for `keepingUnused`, with its value. At most `limit`
/// unused resources are kept. The least recently used is released first.
///
/// Releasing the family cancels all loads and finishes all publishers. `==` and `hash(into:)` of a
/// key run outside every lock.
public final class ResourceFamily<
  Key: Hashable & Sendable, Value: Sendable, Failure: Error
>: Sendable {
  private let storage: FamilyStorage<Key, Value, Failure>

  /// Creates a family without resources.
  ///
  /// - Parameters:
  ///   - staleAfter: The age at which a value is stale. By default, it never is. Traps if negative.
  ///   - interval: The time between two loads of a resource with a subscriber. Traps if it is not
  ///     longer than 0.
  ///   - keepingUnused: The time for which an unused resource is kept. The default is 5 minutes. With
  ///     0, it is released immediately. Traps if negative.
  ///   - limit: The maximum number of unused resources. The default is 1,000. Traps if negative.
  ///   - retries: The maximum number of further attempts after a failed attempt. Traps if negative.
  ///   - retryDelay: The delay between a failure and the next attempt.
  ///   - isWorthIt: A predicate for every failure except the last attempt's.
  ///   - clock: The only source of time.
  ///   - name: The name that instruments and graphs show for each resource.
  ///   - instrument: The instrument that observes the resources. Defaults to the current instrument,
  ///     see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  ///   - load: The function that loads the value of a key.
  public init(
    staleAfter: Duration? = nil, refreshEvery interval: Duration? = nil,
    keepingUnused: Duration = .seconds(300), limit: Int = 1_000, retries: Int = 0,
    retryDelay: RetryDelay = .exponential(from: .seconds(1), upTo: .seconds(30), jitter: 0.5),
    retryWhile isWorthIt: @escaping @Sendable (Failure) -> Bool = { _ in true },
    clock: any Clock<Duration> = ContinuousClock(), name: String? = nil,
    instrument: (any Instrument)? = nil, fileID: String = #fileID, line: Int = #line,
    _ load: @escaping @Sendable (Key) async throws(Failure) -> Value
  ) {
    if limit < 0 { misuse("'limit' requires a count of 0 or more, not \(limit).") }
    let policy = LoadPolicy(
      staleAfter: staleAfter, refreshEvery: interval, retries: retries, retryDelay: retryDelay,
      retryWhile: isWorthIt)
    let timekeeper = Timekeeper(clock)
    storage = FamilyStorage(
      keepingUnused: clampedWait(keepingUnused, of: "keepingUnused"), limit: limit, timekeeper
    ) { key, onIdle in
      ResourceCore(
        policy, timekeeper,
        .ofResource(name, Resource<Value, Failure>.self, instrument: instrument, fileID, line),
        onIdle: onIdle
      ) { () async throws(Failure) in try await load(key) }
    }
  }

  deinit {
    storage.end()
  }

  /// Accesses the resource of a key, which is created if it does not exist.
  ///
  /// O(1), apart from `hash(into:)` and `==` of the key. It loads nothing.
  public subscript(key: Key) -> Resource<Value, Failure> { storage.resource(for: key) }

  /// Invalidates the existing resources whose keys satisfy `isIncluded`.
  ///
  /// See ``Resource/invalidate()``. The closure runs once for each key. O(n) in the number of
  /// resources.
  public func invalidate(where isIncluded: (Key) -> Bool = { _ in true }) {
    for entry in storage.entries where isIncluded(entry.key) { entry.core.invalidate() }
  }

  /// The number of resources in memory, used and unused.
  public var count: Int { storage.count }
}

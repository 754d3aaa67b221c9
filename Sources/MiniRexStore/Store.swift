public import MiniRex
public import Observation

/// A state that changes in one way, and tells of each change in one order.
///
/// ```swift
/// let store = Store(Search(), reducer: searching { [$0.uppercased()] })
/// let subscription = store.publisher(of: \.results).subscribe { print("\($0)") }
///
/// try await store.send(.queryChanged("rex")).finished()
/// ```
///
/// It may be used on any thread. The store ends when it is released: its subscriptions end, and its
/// effects are cancelled. Members of the state are read as the store's own, `store.name`, and are then
/// observed by whoever asks for it, as SwiftUI does; a member that is called like one of the store's
/// is read as `store.state.events`.
@dynamicMemberLookup
public final class Store<State: Sendable, Action: Sendable>: Sendable, Observable, Identifiable {
  @usableFromInline let storage: StoreStorage<State, Action>
  @usableFromInline let lineage: Lineage?

  /// Makes a store of its first state and its reducer.
  ///
  /// - Parameters:
  ///   - state: The first state.
  ///   - first: An action that is sent before this returns.
  ///   - name: What an instrument calls it.
  ///   - instrument: Who watches it; `nil` for the one in force.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  ///   - reducer: What actions do.
  public init(
    _ state: State, first: Action? = nil, name: String? = nil,
    instrument: (any Instrument)? = nil, fileID: String = #fileID, line: Int = #line,
    reducer: @escaping Reducer<State, Action>
  ) {
    storage = StoreStorage(state, reducer: reducer)
    lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    storage.serve(self)
    if let first { send(first) }
  }

  deinit {
    storage.end()
    lineage?.sourceHasEnded()
  }

  /// The state as it is now.
  ///
  /// Inside a callback for a commit it is that of this commit or a newer one. Reading it waits while
  /// another thread reduces; inside the store's own reducer it stops the program, because the `inout`
  /// value is the state. Reading it is not observed.
  @inlinable
  public var state: State { storage.current }

  /// A member of the state, observed.
  ///
  /// Inside `withObservationTracking`, `onChange` is called after the next commit in which it differs.
  public subscript<Part>(dynamicMember part: any KeyPath<State, Part> & Sendable) -> Part {
    storage.observe(part)
  }

  /// Tells the state: the present one, then each that differs from the one before.
  ///
  /// It keeps the last state, but not the store.
  @inlinable
  public var publisher: PublishedValue<State> { publisher(of: { $0 }) }

  /// Tells a part of the state: the present one, then each that differs from the one before.
  ///
  /// ```swift
  /// let subscription = store.publisher(of: \.results).subscribe { print("\($0)") }
  /// ```
  ///
  /// `part` is called with every commit, and the results are compared; the whole never is.
  @inlinable
  public func publisher<Part: Sendable>(
    of part: @escaping @Sendable (State) -> Part
  ) -> PublishedValue<Part> {
    let changeTest = ChangeTest<Part>()
    return Publisher(
      lineage: .ofOperation("publisher", on: lineage),
      current: { [storage] in part(storage.current) }
    ) { [storage] receive in
      storage.subscribe(to: part, changeTest, receive)
    }
  }

  /// Tells each commit once, in order, and when effects begin and end.
  ///
  /// `store.events.subscribe { print($0) }` is a log.
  public var events: Broadcaster<StoreEvent<State, Action>> {
    Publisher(watchedBy: lineage, current: { nil }) { [storage] in storage.subscribe($0) }
  }

  /// Reduces an action, and tells of the commit.
  ///
  /// When it returns, the state that it has made has been visible, its subscribers have been called,
  /// unless another thread is delivering, which then calls them, and its effects have begun. Sent by
  /// the store's own reducer, it is reduced when that one has returned, before the action of any other
  /// thread. A thread that finds another one reducing waits for it.
  ///
  /// - Returns: What it has started, which you may wait for or cancel.
  @inlinable
  @discardableResult
  public func send(_ action: Action) -> StoreTask {
    StoreTask(storage.send(action))
  }

  /// How many effects have not ended.
  public var effectCount: Int { storage.effectCount }

  /// How many subscriptions have not ended; a member that is observed is one.
  public var subscriberCount: Int { storage.delivery.subscriberCount }

  /// How many events wait for the thread that delivers.
  public var pendingUpdates: Int { storage.delivery.pendingUpdates }
}

// What effects ask of a store, which lives at least until they have been answered.
extension Store: EffectHost {
  func perform(_ input: StoreInput<Action>) {
    storage.perform(input)
  }

  func begins(_ effect: RunningEffect<Action>) -> Bool {
    storage.begins(effect)
  }

  func cancel(_ group: EffectGroup) {
    perform(.cancel(group))
  }

  package var hasForgottenEffects: Bool { storage.hasForgottenEffects }
}

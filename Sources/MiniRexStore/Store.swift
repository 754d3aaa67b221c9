public import MiniRex
public import Observation

/// An observable state that changes only through actions, and publishes every change in one order.
///
/// ```swift
/// let store = Store(Search(), reducer: searching { [$0.uppercased()] })
/// let subscription = store.publisher(of: \.results).subscribe { print("\($0)") }
///
/// try await store.send(.queryChanged("rex")).finished()
/// ```
///
/// A store is thread-safe. Releasing its last reference finishes its subscriptions and cancels its
/// effects.
///
/// Members of the state are members of the store, as in `store.name`. Reading them is tracked by
/// Observation, so SwiftUI views update. If a member has the name of a store API, read it from the
/// state, as in `store.state.events`.
///
/// To give a component only a child of the state, use ``scope(_:_:)`` or ``scope(ifPresent:_:)``.
@dynamicMemberLookup
public final class Store<State: Sendable, Action: Sendable>: Sendable, Observable, Identifiable {
  @usableFromInline let backing: StoreBacking<State, Action>
  /// The storage that `backing` retains, accessed without a retain.
  ///
  /// `nil` for a scope.
  @usableFromInline let root: UnretainedReference<StoreStorage<State, Action>>?
  @usableFromInline let lineage: Lineage?
  /// The durations of the reducer's calls, if a graph observes the store.
  package let reducerTimes: ReducerTimes?
  let diffWork = Lock<StoreDiffs?>(nil)
  /// The parent of a scope, retained.
  private let parent: (any AnyObject & Sendable)?

  /// Creates a store with an initial state and a reducer.
  ///
  /// - Parameters:
  ///   - state: The initial state.
  ///   - first: An action that is sent before the initializer returns.
  ///   - name: The name of the store in an instrument.
  ///   - instrument: The instrument that observes the store. Defaults to the current instrument.
  ///   - fileID: The file of the call, for the instrument.
  ///   - line: The line of the call, for the instrument.
  ///   - reducer: The reducer that applies actions.
  public init(
    _ state: State, first: Action? = nil, name: String? = nil,
    instrument: (any Instrument)? = nil, fileID: String = #fileID, line: Int = #line,
    reducer: @escaping Reducer<State, Action>
  ) {
    let lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    self.lineage = lineage
    reducerTimes = lineage?.isInGraph == true ? ReducerTimes() : nil
    let storage = StoreStorage(
      state, lineage: lineage, place: CodePlace(fileID: fileID, line: line),
      reducer: reducerTimes?.measuring(reducer) ?? reducer)
    backing = .root(storage)
    root = UnretainedReference(storage)
    parent = nil
    storage.weakStore.store = self
    if let first { send(first) }
  }

  /// Creates a scope.
  @usableFromInline
  init<Parent, ParentAction>(
    _ scope: any AnyScope<State, Action>, of parent: Store<Parent, ParentAction>, lineage: Lineage?
  ) {
    backing = .scope(scope)
    root = nil
    self.parent = parent
    self.lineage = lineage
    reducerTimes = nil
  }

  deinit {
    switch backing {
    case .root(let storage):
      storage.end()
      lineage?.sourceHasEnded()
    case .scope(let scope): scope.storeWasReleased()
    }
  }

  /// The current state.
  ///
  /// Inside a callback, it is the state of the delivered commit or a newer state. A read waits
  /// while another thread reduces. Traps inside the store's own reducer, where the `inout`
  /// parameter is the state. Reads are not observed. After the child of a scope was removed, this
  /// is the last state that the scope read or received.
  @inlinable
  public var state: State {
    switch backing {
    case .root(let storage): storage.current
    case .scope(let scope): scope.state
    }
  }

  /// Accesses a member of the state and registers the access with Observation.
  ///
  /// Inside `withObservationTracking`, `onChange` runs after the next commit that changes the
  /// member.
  public subscript<Value>(dynamicMember path: any KeyPath<State, Value> & Sendable) -> Value {
    observe(path)
  }

  func observe<Value>(_ path: any KeyPath<State, Value> & Sendable) -> Value {
    defer { extendLifetime(self) }
    return switch backing {
    case .root(let storage): storage.observe(path)
    case .scope(let scope): scope.observe(path)
    }
  }

  /// Emits the current state, then each state that differs from the previous one.
  ///
  /// The publisher retains the last state, but not the store.
  @inlinable
  public var publisher: PublishedValue<State> { publisher(of: { $0 }) }

  /// Emits the current value of a closure over the state, then each value that differs from the
  /// previous one.
  ///
  /// ```swift
  /// let subscription = store.publisher(of: \.results).subscribe { print("\($0)") }
  /// ```
  ///
  /// Each commit calls `value` once per subscription and compares the results. The entire state is
  /// never compared.
  @inlinable
  public func publisher<Value: Sendable>(
    of value: @escaping @Sendable (State) -> Value
  ) -> PublishedValue<Value> {
    let changeTest = ChangeTest<Value>()
    return Publisher(
      watchedBy: lineage, as: "publisher",
      value: .untracked { [backing] in
        switch backing {
        case .root(let storage): value(storage.current)
        case .scope(let scope): value(scope.state)
        }
      }
    ) { [backing] receive in
      switch backing {
      case .root(let storage): return storage.subscribe(to: value, changeTest, receive)
      case .scope(let scope):
        let receive = skippingDuplicates(changeTest, receive)
        return scope.subscribe(toState: { receive(value($0)) })
      }
    }
  }

  /// Emits each commit and each start and end of an effect, in order.
  ///
  /// For a log, write `store.events.subscribe { print($0) }`. A scope emits every commit of its
  /// parent, including commits that do not change the child, with the parent's number, the child's
  /// state, and the cause ``CommitCause/parent``. Actions and effects appear only in the events of
  /// the parent.
  public var events: Broadcaster<StoreEvent<State, Action>> {
    switch backing {
    case .root(let storage):
      Publisher(watchedBy: lineage, value: .none) { storage.subscribe($0) }
    case .scope(let scope):
      Publisher(watchedBy: lineage, as: "events", value: .none) { scope.subscribe($0) }
    }
  }

  /// Reduces an action and publishes the commit.
  ///
  /// When `send` returns, the new state is readable, its subscribers have received it, and its
  /// effects have started. If another thread is delivering, that thread calls the subscribers
  /// instead, possibly after the return. If another thread is reducing, `send` waits for it.
  ///
  /// Sent inside the store's own reducer, the action is reduced after the current action and before
  /// any action of another thread. A scope sends an action of the parent, or nothing after its
  /// child was removed.
  ///
  /// - Returns: A task that represents the effects of the action. You can wait for it or cancel it.
  @inlinable
  @discardableResult
  public func send(_ action: Action) -> StoreTask {
    guard let root else { return sendToBacking(action) }
    return root.use { $0.send(action, to: self) }
  }

  @usableFromInline
  func sendToBacking(_ action: Action) -> StoreTask {
    switch backing {
    case .root(let storage): return storage.send(action, to: self)
    case .scope(let scope):
      defer { extendLifetime(self) }
      return scope.send(action)
    }
  }

  /// A Boolean value that indicates whether the child of a scope is still present.
  ///
  /// An optional child is removed by a commit after which it is `nil`, and a row by a commit after
  /// which it is missing. A later child gets another scope.
  public var isActive: Bool {
    switch backing {
    case .root: true
    case .scope(let scope): scope.isActive
    }
  }

  var host: any StoreHost {
    switch backing {
    case .root(let storage): storage
    case .scope(let scope): scope.host
    }
  }

  /// The number of unfinished effects.
  ///
  /// For a scope, this is the number of the parent.
  public var effectCount: Int { host.effectCount }

  package var hasForgottenEffects: Bool { host.hasForgottenEffects }

  package var hasForgottenScopes: Bool { host.hasForgottenScopes }

  /// The number of active subscriptions, including the subscriptions of scopes.
  ///
  /// Each observed member counts as one.
  public var subscriberCount: Int { host.subscriberCount }

  /// The number of events queued for the delivering thread.
  public var pendingUpdates: Int { host.pendingUpdates }
}

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
///
/// A part of it is a store too, which ``scope(_:_:)`` and ``scope(ifPresent:_:)`` give.
@dynamicMemberLookup
public final class Store<State: Sendable, Action: Sendable>: Sendable, Observable, Identifiable {
  @usableFromInline let backing: StoreBacking<State, Action>
  /// What `backing` keeps, of a store that is not a scope: found without a retain.
  @usableFromInline let root: Borrowed<StoreStorage<State, Action>>?
  @usableFromInline let lineage: Lineage?
  let diffWork = Lock<StoreDiffs?>(nil)
  /// What a scope keeps alive: the store whose part it is.
  private let whole: (any AnyObject & Sendable)?

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
    let lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    self.lineage = lineage
    let storage = StoreStorage(state, lineage: lineage, reducer: reducer)
    backing = .root(storage)
    root = Borrowed(storage)
    whole = nil
    storage.link.store = self
    if let first { send(first) }
  }

  /// Makes a scope.
  @usableFromInline
  init<Whole, WholeAction>(
    _ part: StorePart<State, Action>, of whole: Store<Whole, WholeAction>, lineage: Lineage?
  ) {
    backing = .part(part)
    root = nil
    self.whole = whole
    self.lineage = lineage
  }

  deinit {
    switch backing {
    case .root(let storage):
      storage.end()
      lineage?.sourceHasEnded()
    case .part(let part): part.storeHasGone()
    }
  }

  /// The state as it is now.
  ///
  /// Inside a callback for a commit it is that of this commit or a newer one. Reading it waits while
  /// another thread reduces; inside the store's own reducer it stops the program, because the `inout`
  /// value is the state. Reading it is not observed. A scope whose part has gone has the last state that
  /// it has read or was told.
  @inlinable
  public var state: State {
    switch backing {
    case .root(let storage): storage.current
    case .part(let part): part.state
    }
  }

  /// A member of the state, observed.
  ///
  /// Inside `withObservationTracking`, `onChange` is called after the next commit in which it differs.
  public subscript<Part>(dynamicMember part: any KeyPath<State, Part> & Sendable) -> Part {
    observe(part)
  }

  func observe<Part>(_ part: any KeyPath<State, Part> & Sendable) -> Part {
    defer { extendLifetime(self) }
    return switch backing {
    case .root(let storage): storage.observe(part)
    case .part(let scope): scope.observe(part)
    }
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
      watchedBy: lineage, as: "publisher",
      current: { [backing] in
        switch backing {
        case .root(let storage): part(storage.current)
        case .part(let scope): part(scope.state)
        }
      }
    ) { [backing] receive in
      switch backing {
      case .root(let storage): return storage.subscribe(to: part, changeTest, receive)
      case .part(let scope):
        let receive = skippingDuplicates(changeTest, receive)
        return scope.subscribe(toState: { receive(part($0)) })
      }
    }
  }

  /// Tells each commit once, in order, and when effects begin and end.
  ///
  /// `store.events.subscribe { print($0) }` is a log. Those of a scope are the commits of the whole, also
  /// such as leave the part as it was, with their numbers, the part's state and the cause
  /// ``CommitCause/whole``; actions and effects are told by the store that the scope is a part of.
  public var events: Broadcaster<StoreEvent<State, Action>> {
    switch backing {
    case .root(let storage):
      Publisher(watchedBy: lineage, current: { nil }) { storage.subscribe($0) }
    case .part(let part):
      Publisher(watchedBy: lineage, as: "events", current: { nil }) { part.subscribe($0) }
    }
  }

  /// Reduces an action, and tells of the commit.
  ///
  /// When it returns, the state that it has made has been visible, its subscribers have been called,
  /// unless another thread is delivering, which then calls them, and its effects have begun. Sent by
  /// the store's own reducer, it is reduced when that one has returned, before the action of any other
  /// thread. A thread that finds another one reducing waits for it. The action of a scope is one of the
  /// whole, and does nothing if the part has gone.
  ///
  /// - Returns: What it has started, which you may wait for or cancel.
  @inlinable
  @discardableResult
  public func send(_ action: Action) -> StoreTask {
    guard let root else { return sendToBacking(action) }
    return root.use { StoreTask($0.send(action, to: self)) }
  }

  @usableFromInline
  func sendToBacking(_ action: Action) -> StoreTask {
    switch backing {
    case .root(let storage): return StoreTask(storage.send(action, to: self))
    case .part(let part):
      defer { extendLifetime(self) }
      return StoreTask(part.send(action))
    }
  }

  /// False once the part that a scope looks at has gone.
  ///
  /// An optional part goes when it is `nil` after a commit, a row when it is not there. What is there
  /// later is another part, with a scope of its own.
  public var isActive: Bool {
    switch backing {
    case .root: true
    case .part(let part): part.isActive
    }
  }

  private var host: any StoreHost {
    switch backing {
    case .root(let storage): storage
    case .part(let part): part.host
    }
  }

  /// How many effects have not ended; a scope tells those of the whole.
  public var effectCount: Int { host.effectCount }

  package var hasForgottenEffects: Bool { host.hasForgottenEffects }

  package var hasForgottenParts: Bool { host.hasForgottenParts }

  /// How many subscriptions have not ended, those of scopes included; a member that is observed is one.
  public var subscriberCount: Int { host.subscriberCount }

  /// How many events wait for the thread that delivers.
  public var pendingUpdates: Int { host.pendingUpdates }
}

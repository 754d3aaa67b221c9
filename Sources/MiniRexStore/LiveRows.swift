public import MiniRex

/// A live query: a list that changes keep up to date while it has a subscriber.
///
/// ```swift
/// let open = store.live(\.cards).filter { !$0.isDone }.sorted(by: \.rank)
/// let subscription = open.updates.subscribe { show($0) }
/// ```
///
/// A query is a description, and costs nothing until the first subscriber. The subscribers of one
/// query and of its copies share one index. One changed row costs O(log n) per operator, and runs
/// each predicate and each key once. Releasing the last subscription releases the index.
///
/// Operators that return a query, such as ``filter(_:)``, make a query with its own index. The
/// closures of a query run on the thread that delivers the source's update.
public struct LiveRows<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  @usableFromInline let inputs: PublishedValue<any LiveInput>
  @usableFromInline let makeStage: @Sendable () -> LiveStage<Row>
  @usableFromInline let steps: PublishedValue<LiveStep<Row>>
  @usableFromInline let query: QueryID
  @usableFromInline let isStore: Bool

  /// - Parameter isStore: `true` if one store delivers all inputs.
  @inlinable
  init(
    _ inputs: PublishedValue<any LiveInput>, isStore: Bool = false,
    _ makeStage: @escaping @Sendable () -> LiveStage<Row>
  ) {
    self.inputs = inputs
    self.makeStage = makeStage
    self.isStore = isStore
    let query = QueryID()
    self.query = query
    let makeRun: @Sendable () -> LiveRun<Row> = { LiveRun(makeStage(), of: query) }
    steps = isStore ? inputs.sharedSteps(makeRun) : inputs.steps(makeRun).share()
  }

  /// Creates a query with another operator, over the same sources.
  @inlinable
  init(
    over source: LiveRows<some Identifiable & Sendable>,
    _ makeStage: @escaping @Sendable () -> LiveStage<Row>
  ) {
    self.init(source.inputs, isStore: source.isStore, makeStage)
  }

  /// Emits the rows now, then the rows after each change.
  ///
  /// A commit that does not change the rows of the query is skipped. Without a subscriber,
  /// `publisher.current()` computes the rows in O(n log n).
  @inlinable
  public var publisher: PublishedValue<RowsSnapshot<Row>> {
    Publisher(
      of: steps, by: "publisher", value: .untracked { [steps] in steps.readCurrent()?.snapshot }
    ) {
      [steps] receive in steps.follow { receive($0.snapshot) }
    }
  }

  /// Emits all rows to a new subscriber, then the changes of each update.
  ///
  /// An update with more than `max(64, count / 8)` changes contains all rows instead.
  @inlinable
  public var updates: Broadcaster<RowsUpdate<Row>> {
    Broadcaster(trusting: steps, by: "updates") { [steps] receive in
      let isFirst = SerialState(true)
      return steps.follow { step in
        if isFirst.value {
          isFirst.value = false
          receive(.all(step.snapshot))
        } else {
          receive(step.update)
        }
      }
    }
  }

  /// Returns the rows.
  ///
  /// With a subscriber, these are the rows that were delivered last. Without one, `current()`
  /// computes them in O(n log n) and keeps nothing. The result is empty if a source has no value yet.
  @inlinable
  public func current() -> RowsSnapshot<Row> {
    steps.readCurrent()?.snapshot ?? RowsSnapshot(RowTree(), of: query)
  }
}

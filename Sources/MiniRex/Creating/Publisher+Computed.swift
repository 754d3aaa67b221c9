extension Publisher where Kind == PublishedValueKind {
  /// Creates a published value from other published values, which it finds by reading them.
  ///
  /// ```swift
  /// let price = PublishedProperty(20)
  /// let count = PublishedProperty(3)
  /// let total = PublishedValue.computed { read in read(price) * read(count) }
  /// print(total.current() ?? 0)  // prints 60
  /// let subscription = total.subscribe { print($0) }  // prints 60
  /// count.value = 4  // prints 80
  /// ```
  ///
  /// Nothing runs before ``current()`` or `subscribe`. The result is kept: `compute` runs again
  /// only if a value that it has read differs since. The values of the last run are the
  /// dependencies. A change of a source runs `compute` once, after all other values that depend on
  /// the source have changed, and on the thread that delivers the change. Changes that other threads
  /// make during that time are folded into one run. A result that equals the previous one is not
  /// emitted. Threads that call `current()` at the same time wait for one run.
  ///
  /// `compute` runs without a lock. It may send and subscribe, but it must not write a value that
  /// it reads. It must not write a value whose subscribers on this thread read the computed value:
  /// a read of a run in progress is a cycle. It should depend on nothing that it does not read.
  ///
  /// A computed value retains its dependencies and the values that it has read. A dependency
  /// retains nothing of a computed value without subscribers. With subscribers, each property on
  /// which it depends, at any depth, has one more subscription. It finishes when all dependencies
  /// have finished.
  ///
  /// A read of a correct value takes O(1), and after a change O(dependencies at any depth). An
  /// update takes O(values that the change may affect, and their reads), whatever other values
  /// change. A chain of computed values uses stack in proportion to its length when it runs for the
  /// first time. Dependencies with a separate state, such as the results of `debounce` and `share`
  /// and the states of stores, are compared at each read without a subscriber.
  ///
  /// Traps if it depends on itself, with the names of the computed values.
  ///
  /// - Parameters:
  ///   - name: The name that traps, instruments, and graphs show.
  ///   - instrument: The instrument that observes it. Defaults to the current instrument. Pass it if
  ///     the sources have an instrument of their own.
  ///   - fileID: The file that they show.
  ///   - line: The line that they show.
  ///   - compute: A closure that reads published values through its parameter.
  @inlinable
  public static func computed(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line, _ compute: @escaping @Sendable (_ read: inout ValueReader) -> Update
  ) -> PublishedValue<Update> {
    let changeTest = ChangeTest<Update>()
    let lineage = Lineage.ofComputed(name, instrument: instrument, fileID, line)
    let label = ComputedLabel(name, fileID, line, lineage)
    let node = ComputedNode(label, changeTest, compute: compute)
    return Publisher(computing: node, lineage) { inlet in
      inlet.follow(node.subscribe(changeTest) { inlet.report($0) })
    }
  }

  @usableFromInline
  init(
    computing node: ComputedNode, _ lineage: Lineage?,
    start: @escaping @Sendable (WorkInlet<Update>) -> Subscription
  ) {
    let work = SharedWork<Update>(start: start)
    self.init(lineage: lineage, value: .computed(node)) { work.subscribe($0) }
  }
}

internal import Synchronization

/// The memory of a computed value: its last result, and the thread that runs it.
///
/// It is not generic, so that the search of dependencies is not. The closure knows the type.
///
/// Unchecked: `work` is constant until the deinitializer.
@usableFromInline
package final class ComputedNode: @unchecked Sendable {
  /// The closure, which is called in place, without a retain.
  private struct Work: ~Copyable {
    /// A struct, because generic code would wrap an optional closure in a thunk.
    struct Closure {
      let run: @Sendable (ReadSession) -> ComputedResult
    }

    var closure: Closure?

    func callAsFunction(_ session: ReadSession) -> ComputedResult {
      unsafe closure.unsafelyUnwrapped.run(session)
    }
  }

  @usableFromInline
  struct State {
    /// The result that was found last, by a subscription or by a reader.
    @usableFromInline var result: ComputedResult?
    /// The thread that inspects the dependencies or runs the closure for a reader.
    var runner: ThreadID?
    var waiters: [Parking] = []
  }

  /// The next step of a reader.
  enum Access {
    case use(ComputedResult)
    /// Inspect the last result, and run the closure if it is not correct.
    case run(after: ComputedResult?)
    case wait(Parking)
    /// This thread runs the closure already.
    case refuse
  }

  let label: ComputedLabel
  /// The publisher whose value is computed, if it is the result of an operator.
  let derivation: PublisherIdentity?
  /// The run of a reader that read this value last.
  ///
  /// A hint, never a proof.
  let reader = Atomic<UInt>(0)
  @usableFromInline let state = Lock(State())
  /// The address of the result, for readers that have a result already.
  private let resultAddress = Atomic<UInt>(0)
  @exclusivity(unchecked) private var work: Work
  /// `true` after advice was printed, in debug builds only.
  private let hasAdvised = Atomic(false)
  private let isChange: @Sendable (ComputedResult, ComputedResult) -> Bool

  @inlinable
  convenience init<Value: Sendable>(
    _ label: ComputedLabel, _ changeTest: ChangeTest<Value>,
    compute: @escaping @Sendable (inout ValueReader) -> Value
  ) {
    self.init(label, nil) { session in
      var reader = ValueReader(session)
      let value = compute(&reader)
      reader.checkRun()
      return ComputedResult.of(value, changeTest, session.finishRun())
    } isChange: {
      changeTest($0.value(of: Value.self), $1.value(of: Value.self))
    }
  }

  @usableFromInline
  init(
    _ label: ComputedLabel, _ derivation: PublisherIdentity?,
    run: @escaping @Sendable (ReadSession) -> ComputedResult,
    isChange: @escaping @Sendable (ComputedResult, ComputedResult) -> Bool
  ) {
    self.label = label
    self.derivation = derivation
    unsafe work = Work(closure: Work.Closure(run: run))
    self.isChange = isChange
  }

  /// Computes the value of an operator's result, as an optional.
  convenience init<Value, Kind>(deriving publisher: Publisher<Value, Kind>) {
    let changeTest = ChangeTest<Value?>()
    self.init(
      ComputedLabel("\(Value.self)", "operator", 0), PublisherIdentity(publisher)
    ) { session in
      ComputedResult.of(publisher.read(in: session), changeTest, session.finishRun())
    } isChange: {
      changeTest($0.value(of: Value?.self), $1.value(of: Value?.self))
    }
  }

  /// In a chain of computed values, the closure may own the next value, and the result its result.
  deinit {
    var closure = unsafe work.closure.take()
    ReleaseChain.release(&closure)
    var result = state.withLock { $0.result.take() }
    ReleaseChain.release(&result)
  }

  func run(in session: ReadSession) -> ComputedResult {
    unsafe work(session)
  }

  /// Prints advice, once, if the first run has read nothing.
  func checkReads(of result: ComputedResult) {
    if derivation != nil || !result.dependencies.isEmpty { return }
    if hasAdvised.exchange(true, ordering: .relaxed) { return }
    print(
      "MiniRex: \(label) has read nothing through its parameter, so it never changes. Write "
        + "'read(price)' in the closure instead of 'price.value'.")
  }

  /// Returns `true` if both results of this computed value are equal.
  func areEqual(_ old: ComputedResult, _ new: ComputedResult) -> Bool {
    old.version == new.version || !isChange(old, new)
  }

  /// Returns the value, if it is known to be correct now.
  @inlinable
  func presentValue<Value: Sendable>(of _: Value.Type) -> Value? {
    let now = ChangeClock.now
    return state.withLock { state in
      let result = state.result.map { UnretainedReference($0) }
      return result?.use { $0.isCorrect(at: now) ? $0.value(of: Value.self) : nil }
    }
  }

  /// Returns a correct result.
  ///
  /// Several attempts find a result of a single instant, unless other threads write all the time.
  @usableFromInline
  func current() -> ComputedResult {
    var attempts = 0
    while true {
      let session = ReadSession()
      guard let result = session.result(of: self) else { ComputedCycle.trap(at: self) }
      attempts += 1
      if session.isExact || attempts == 4 { return result }
    }
  }

  /// The address of the result that was found last, or 0.
  var lastResult: UInt { resultAddress.load(ordering: .relaxed) }

  /// The result that was found last, by a subscription or by a reader.
  var result: ComputedResult? { state.withLock { $0.result } }

  /// Returns the result that was found last, if it is known to be correct at this time.
  func result(at time: UInt) -> ComputedResult? {
    state.withLock { state in
      let isCorrect = state.result.map { UnretainedReference($0) }?.use { $0.isCorrect(at: time) }
      return isCorrect == true ? state.result : nil
    }
  }

  /// Decides the next step of a reader that needs a result of this time.
  ///
  /// Threads that need it at the same time wait for one run.
  func access(at time: UInt, on thread: ThreadID) -> Access {
    state.withLock { state in
      if let result = state.result, result.isCorrect(at: time) { return .use(result) }
      guard let runner = state.runner else {
        state.runner = thread
        return .run(after: state.result)
      }
      if runner == thread { return .refuse }
      let parking = Parking()
      state.waiters.append(parking)
      return .wait(parking)
    }
  }

  /// Stores a result, unless a newer result is known.
  func publish(_ result: ComputedResult) {
    var replaced: ComputedResult?
    state.withLock { replace(&$0, by: result, &replaced) }
    ReleaseChain.release(&replaced)
  }

  /// Stores the result of a reader, and wakes the waiting threads.
  func finish(_ result: ComputedResult) {
    var replaced: ComputedResult?
    var waiters: [Parking] = []
    state.withLock { state in
      replace(&state, by: result, &replaced)
      state.runner = nil
      if !state.waiters.isEmpty { swap(&state.waiters, &waiters) }
    }
    for parking in waiters { parking.open() }
    ReleaseChain.release(&replaced)
  }

  private func replace(
    _ state: inout State, by result: ComputedResult, _ replaced: inout ComputedResult?
  ) {
    let new = UnretainedReference(result)
    if let present = state.result.map({ UnretainedReference($0) }),
      present.address == new.address || present.use({ result.isOlder(than: $0) })
    {
      return
    }
    replaced = result
    swap(&state.result, &replaced)
    resultAddress.store(new.address, ordering: .relaxed)
  }

  /// The thread that runs the closure for a reader, or inspects its dependencies.
  var runner: ThreadID? { state.withLock { $0.runner } }
}

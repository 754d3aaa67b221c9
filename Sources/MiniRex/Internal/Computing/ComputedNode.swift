public import Synchronization

/// The memory of a computed value: its last result, and the thread that runs it.
///
/// It is not generic, so that the search of dependencies is not. The closure knows the type.
@usableFromInline
final class ComputedNode: Sendable {
  typealias Run = @Sendable (ReadSession) -> ComputedResult

  @usableFromInline
  struct State {
    @usableFromInline var result: ComputedResult?
    /// A result for other values than the present ones, until the next present result.
    var otherResult: ComputedResult?
    /// The thread that inspects the dependencies, or runs the closure.
    var runner: ThreadID?
    var waiters: [Parking] = []
  }

  /// A result, and whether all of it belonged to one instant.
  struct Evaluation {
    let result: ComputedResult
    let isExact: Bool
  }

  private enum Step {
    case use
    case run
    case wait
    case trap
  }

  let label: ComputedLabel
  let work: Run
  /// The publisher whose value is computed, if it is the result of an operator.
  let derivation: PublisherIdentity?
  /// The run of a computed value that read this one last.
  ///
  /// A hint, never a proof.
  let reader = Atomic<UInt>(0)
  @usableFromInline let state = Lock(State())
  /// The time of the change clock at which the result was correct, or 0.
  @usableFromInline let validTime = Atomic<UInt>(0)
  private let resultAddress = Atomic<UInt>(0)
  private let log = ChangeLog.shared
  /// The time of the last change that a subscription has found to affect the value, or 0.
  private let changeTime = Atomic<UInt>(0)

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
    work = run
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

  /// Returns `true` if both results of this computed value are equal.
  func areEqual(_ old: ComputedResult, _ new: ComputedResult) -> Bool {
    old.version == new.version || !isChange(old, new)
  }

  /// The results in memory.
  var results: [ComputedResult] {
    state.withLock { [$0.result, $0.otherResult].compactMap { $0 } }
  }

  /// Returns a result for the given values, and present ones.
  func result(fitting pins: PinnedValues) -> ComputedResult {
    pins.result(of: self, in: ReadSession(pins: pins))
  }

  /// Returns the value, if it is known to be correct now.
  @inlinable
  func presentValue<Value: Sendable>(of _: Value.Type) -> Value? {
    let now = ChangeClock.now
    return state.withLock { state in
      guard validTime.load(ordering: .relaxed) == now else { return nil }
      return state.result?.value(of: Value.self)
    }
  }

  /// Returns the result if it is known to be correct at this time.
  func presentResult(at time: UInt) -> ComputedResult? {
    state.withLock { isCorrect($0, at: time) ? $0.result : nil }
  }

  /// Returns `true` if the last result is known to be correct at this time.
  ///
  /// Called under the lock.
  private func isCorrect(_ state: State, at time: UInt) -> Bool {
    let start = validTime.load(ordering: .relaxed)
    if start == time { return true }
    guard let places = state.result?.places, log.isFree(of: places, from: start, to: time) else {
      return false
    }
    validTime.store(time, ordering: .releasing)
    return true
  }

  /// Returns a correct result.
  ///
  /// Several attempts find a result of a single instant, unless other threads write all the time.
  @usableFromInline
  func current() -> ComputedResult {
    for _ in 0..<3 {
      let evaluation = evaluate(in: nil)
      if evaluation.isExact { return evaluation.result }
    }
    return evaluate(in: nil).result
  }

  /// Returns a correct result, and runs the closure if it must.
  ///
  /// Threads that need it at the same time wait for one run.
  ///
  /// - Parameters:
  ///   - session: The session of the run that reads this value.
  ///   - pass: The pass that updates this value, if its index has the value.
  func evaluate(in session: ReadSession?, _ pass: UpdatePass? = nil) -> Evaluation {
    let thread = ThreadID.current
    let skipTime = pass?.time ?? 0
    while true {
      let now = pass?.time ?? ChangeClock.now
      var known: ComputedResult?
      // The runner alone replaces the result, so it needs no retain.
      var previous: Unmanaged<ComputedResult>?
      var parking: Parking?
      let step = state.withLock { state -> Step in
        let isExact = validTime.load(ordering: .relaxed) != 0
        if isExact, isSkipped(at: skipTime) || isCorrect(state, at: now) {
          known = state.result
          return .use
        }
        guard let runner = state.runner else {
          state.runner = thread
          unsafe previous = state.result.map { unsafe .passUnretained($0) }
          return .run
        }
        if runner == thread { return .trap }
        let new = Parking()
        state.waiters.append(new)
        parking = new
        return .wait
      }
      switch step {
      case .use: if let known { return Evaluation(result: known, isExact: true) }
      case .run: return unsafe update(previous, at: now, in: session, pass)
      case .wait: if let parking { ComputedCycle.wait(for: self, on: thread, parking) }
      case .trap: ComputedCycle.trap(at: self)
      }
    }
  }

  /// Runs the closure for values that need not be present.
  func runPrivately(in session: ReadSession, after previous: ComputedResult?) -> ComputedResult {
    if ComputedCycle.contains(self) { ComputedCycle.trap(at: self) }
    var result = ComputedCycle.within(self) {
      unsafe session.run(
        self, after: previous.map { unsafe .passUnretained($0) }, isIndexed: false)
    }
    defer { withExtendedLifetime((result, previous)) {} }
    let new = result
    state.withLock { state in
      var replaced = Optional(new)
      swap(&state.otherResult, &replaced)
      if let replaced { result = replaced }
    }
    return new
  }

  /// The thread that runs the closure, or inspects its dependencies.
  var runner: ThreadID? { state.withLock { $0.runner } }

  /// Records that a change may affect the value.
  func mayHaveChanged(at time: UInt) {
    if changeTime.load(ordering: .relaxed) < time { changeTime.max(time, ordering: .relaxed) }
  }

  /// Returns `true` if the change at this time, which a pass has followed, does not affect the value.
  func isSkipped(at time: UInt) -> Bool { changeTime.load(ordering: .relaxed) < time }

  /// Called by the runner.
  private func update(
    _ previous: Unmanaged<ComputedResult>?, at now: UInt, in session: ReadSession?,
    _ pass: UpdatePass?
  ) -> Evaluation {
    ComputedCycle.within(self) {
      let valid = unsafe previous?._withUnsafeGuaranteedRef { validated($0, pass) }
      if let valid = valid ?? nil { return finish(valid, at: now) }
      if let session { return unsafe run(in: session, after: previous, pass) }
      guard let pass else { return unsafe run(in: ReadSession(), after: previous, nil) }
      return pass.withSession { unsafe run(in: $0, after: previous, pass) }
    }
  }

  private func run(
    in session: ReadSession, after previous: Unmanaged<ComputedResult>?, _ pass: UpdatePass?
  ) -> Evaluation {
    let isIndexed = pass != nil && validTime.load(ordering: .relaxed) != 0
    let result = unsafe session.run(self, after: previous, isIndexed: isIndexed)
    return finish(result, at: session.isExact ? unsafe session.time : 0)
  }

  /// Stores the result, and wakes the waiting threads.
  private func finish(_ result: consuming ComputedResult, at time: UInt) -> Evaluation {
    let result = result
    var replaced: ComputedResult? = result
    var other: ComputedResult?
    var waiters: [Parking] = []
    state.withLock { state in
      swap(&state.result, &replaced)
      if state.otherResult != nil { swap(&state.otherResult, &other) }
      state.runner = nil
      resultAddress.store(result.address, ordering: .relaxed)
      validTime.store(result.isVolatile ? 0 : time, ordering: .releasing)
      if !state.waiters.isEmpty { swap(&state.waiters, &waiters) }
    }
    for parking in waiters { parking.open() }
    withExtendedLifetime((replaced, other)) {}
    return Evaluation(result: result, isExact: time != 0)
  }

  /// Returns `true` if the result at this address is known to be correct at this time.
  func isPresent(_ address: UInt, at time: UInt) -> Bool {
    validTime.load(ordering: .acquiring) == time
      && resultAddress.load(ordering: .relaxed) == address
  }

  /// Returns the result if no dependency has changed.
  ///
  /// Dependencies are inspected in the order of the reads: a change may make later reads obsolete.
  private func validated(_ previous: ComputedResult, _ pass: UpdatePass?) -> ComputedResult? {
    // The index has the dependencies of a result that belonged to one instant.
    let pass = validTime.load(ordering: .relaxed) == 0 ? nil : pass
    let skipTime = pass?.time ?? 0
    var replaced: [Int: ComputedResult]?
    let dependencies = previous.dependencies
    for index in dependencies.indices {
      let dependency = dependencies[index]
      if dependency.isUnaffected(at: skipTime) { continue }
      if !dependency.isComputed {
        if dependency.withRecord({ !$0.isUnchanged() }) { return nil }
        continue
      }
      let isEqual = dependency.withNode { node in
        let new = node.evaluate(in: nil, pass).result
        return dependency.withResult { old in
          if new === old { return true }
          if !node.areEqual(old, new) { return false }
          replaced = replaced ?? [:]
          replaced?[index] = new
          return true
        }
      }
      if !isEqual { return nil }
    }
    return replaced.map { previous.replacing($0) } ?? previous
  }
}

extension Dependency {
  /// Returns `true` if the value is known to be the present one, without a search.
  fileprivate func isUnaffected(at skipTime: UInt) -> Bool {
    if isComputed {
      return isPresent(at: ChangeClock.now, skipTime)
    }
    return withRecord { $0.isPresent && $0.storage.origin == nil }
  }
}

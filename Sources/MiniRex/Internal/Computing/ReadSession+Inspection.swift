/// A result whose dependencies are inspected in the order of the reads.
struct Inspection {
  /// The computed value, which the caller or the result of the inspection around it retains.
  let node: UnretainedReference<ComputedNode>
  private let retained: ComputedResult?
  let previous: UnretainedReference<ComputedResult>?
  /// The instant to which the inspected dependencies belong.
  var time: UInt
  /// The place of the next dependency.
  var position = 0
  /// `true` if it waits for the next inspection.
  var isWaiting = false
  var attempts = 1
  /// The dependencies whose new result is equal but depends on other values, by their positions.
  var replaced: [Int: ComputedResult]?

  init(of node: ComputedNode, after previous: ComputedResult?, at time: UInt) {
    self.node = UnretainedReference(node)
    retained = previous
    self.previous = previous.map { UnretainedReference($0) }
    self.time = time
  }
}

/// Finds results that are correct at the instant of the session.
///
/// The inspections in progress are on a stack of the session, not of the thread: only a closure that
/// reads a value for the first time uses stack.
extension ReadSession {
  /// Returns a correct result, or `nil` if a run in progress waits for this one.
  ///
  /// Such runs need not be a cycle, because one of them may have read values that have changed since.
  func result(of node: ComputedNode) -> ComputedResult? {
    let outer = inspections.count
    if let known = begin(node) { return known }
    if inspections.count == outer { return nil }
    while true {
      guard let result = proceed() else { continue }
      if inspections.count == outer { return result }
      inspected = result
    }
  }

  /// Returns a known result, or begins an inspection unless a run in progress waits for this one.
  private func begin(_ node: ComputedNode) -> ComputedResult? {
    let thread = ThreadID.current
    while true {
      switch unsafe node.access(at: time, on: thread) {
      case .use(let result): return result
      case .run(let previous):
        if inspections.isEmpty { inspections.reserveCapacity(8) }
        unsafe inspections.append(Inspection(of: node, after: previous, at: time))
        return nil
      case .wait(let parking):
        if !ComputedCycle.wait(for: node, on: thread, parking) { return nil }
      case .refuse: return nil
      }
    }
  }

  private enum Comparison {
    case waits
    case same
    case different
  }

  /// Continues the last inspection, and returns its result if it is over.
  private func proceed() -> ComputedResult? {
    let last = inspections.count - 1
    let (node, previous) = (inspections[last].node, inspections[last].previous)
    if let previous, isExact {
      switch previous.use({ compare($0, in: last) }) {
      case .waits: return nil
      case .same:
        let result = previous.use { $0.replacing(inspections[last].replaced) }
        unsafe result.wasCorrect(at: time)
        return finish(result, of: node)
      case .different: break
      }
    }
    let result = node.use { node in
      ComputedCycle.within(node) { run(UnretainedReference(node), after: previous) }
    }
    if isExact { unsafe result.isNew(at: time) }
    return finish(result, of: node)
  }

  private func finish(
    _ result: ComputedResult, of node: UnretainedReference<ComputedNode>
  ) -> ComputedResult {
    node.use { $0.finish(result) }
    inspections.removeLast()
    return result
  }

  /// A change may make later reads obsolete, so the first change ends the comparison.
  private func compare(_ previous: ComputedResult, in inspection: Int) -> Comparison {
    let dependencies = previous.dependencies
    while true {
      for position in inspections[inspection].position..<dependencies.count {
        if !inspections[inspection].isWaiting, isKnown(dependencies[position]) { continue }
        inspections[inspection].position = position
        let comparison = compare(dependencies[position], in: inspection)
        if comparison != .same { return comparison }
        if !isExact { return .different }
      }
      if unsafe inspections[inspection].time == time { return .same }
      if inspections[inspection].attempts == 4 { return .different }
      inspections[inspection].attempts += 1
      unsafe inspections[inspection].time = time
      inspections[inspection].position = 0
      inspections[inspection].replaced = nil
    }
  }

  /// Returns `true` if a dependency is known to have the same value at the instant of the session.
  private func isKnown(_ dependency: Dependency) -> Bool {
    dependency.isComputed
      ? dependency.withResult { unsafe $0.isCorrect(at: time) }
      : dependency.withRecord { unsafe $0.storage.origin == nil && $0.isPresent(at: time) }
  }

  private func compare(_ dependency: Dependency, in inspection: Int) -> Comparison {
    if !dependency.isComputed {
      return dependency.withRecord { $0.isUnchanged() && includes($0) } ? .same : .different
    }
    let result: ComputedResult
    if inspections[inspection].isWaiting, let new = inspected.take() {
      inspections[inspection].isWaiting = false
      result = new
    } else {
      let count = inspections.count
      inspections[inspection].isWaiting = true
      guard let known = dependency.withNode(begin) else {
        return inspections.count > count ? .waits : .different
      }
      inspections[inspection].isWaiting = false
      result = known
    }
    return dependency.withResult { old in
      if result === old { return .same }
      if !dependency.withNode({ $0.areEqual(old, result) }) { return .different }
      if old.hasMoved(to: result) {
        let position = inspections[inspection].position
        inspections[inspection].replaced = inspections[inspection].replaced ?? [:]
        inspections[inspection].replaced?[position] = result
      }
      return .same
    }
  }
}

extension ComputedResult {
  /// Returns the result with other dependencies, given by their positions, whose values are equal.
  fileprivate func replacing(_ results: [Int: ComputedResult]?) -> ComputedResult {
    guard let results else { return self }
    let list = DependencyList(count: dependencies.count) { position in
      let old = dependencies[position]
      guard let new = results[position] else { return old.retained() }
      return old.withNode { Dependency(UnretainedReference($0), UnretainedReference(new)) }
    }
    return replacing(list)
  }
}

internal import Synchronization

extension ValueRecord {
  /// Returns `true` if the storage has this value now, and had it at this time.
  final func isPresent(at time: UInt) -> Bool {
    let known = version.load(ordering: .relaxed)
    return known <= time && storage.version.load(ordering: .acquiring) == known
  }
}

extension DependencyBuffer {
  /// Returns `true` if all values, at any depth, belong to this time.
  func arePresent(at time: UInt) -> Bool {
    var open: [ComputedResult] = []
    var known: Set<ObjectIdentifier> = []
    func isPresent(_ dependency: Dependency) -> Bool {
      if !dependency.isComputed { return dependency.withRecord { $0.isPresent(at: time) } }
      dependency.withResult { result in
        if !result.isCorrect(at: time), known.insert(ObjectIdentifier(result)).inserted {
          open.append(result)
        }
      }
      return true
    }
    for index in 0..<count where !isPresent(self[index]) { return false }
    var inspected: [ComputedResult] = []
    while let result = open.popLast() {
      inspected.append(result)
      for dependency in result.dependencies where !isPresent(dependency) { return false }
    }
    for result in inspected { result.wasCorrect(at: time) }
    return true
  }
}

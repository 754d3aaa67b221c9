/// The values that a session has read, at any depth, and must read again.
///
/// One thread uses it.
@usableFromInline
final class PinnedValues {
  private var records: [ObjectIdentifier: ValueRecord]
  private var results: [ObjectIdentifier: ComputedResult]

  init() {
    records = [:]
    results = [:]
  }

  init(_ other: PinnedValues) {
    records = other.records
    results = other.results
  }

  func keep(_ dependency: Dependency) { keep(dependency.content) }

  func keep(_ content: Dependency.Content) {
    switch content {
    case .value(let record): keep(record)
    case .computed(let node, let result): keep(result, of: node)
    }
  }

  func keep(_ record: ValueRecord) {
    let id = ObjectIdentifier(record.storage)
    if records[id] == nil { records[id] = record }
  }

  func keep(_ result: ComputedResult, of node: ComputedNode) {
    let id = ObjectIdentifier(node)
    if results[id] != nil { return }
    results[id] = result
    for dependency in result.dependencies { keep(dependency) }
  }

  /// The places of the values.
  var places: PlaceRange {
    records.values.reduce(into: PlaceRange()) { unsafe $0.insert($1.storage.place) }
  }

  var arePresent: Bool { records.values.allSatisfy(\.isPresent) }

  /// `true` if all present values equal these.
  var areUnchanged: Bool { records.values.allSatisfy { $0.isUnchanged() } }

  func record<Value>(of storage: PropertyStorage<Value>) -> TypedValueRecord<Value> {
    let id = ObjectIdentifier(storage)
    if let record = records[id] {
      return unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self)
    }
    let record = storage.record
    records[id] = record
    return record
  }

  /// Returns a result that fits the pinned values.
  ///
  /// If the present result does not, the computed value runs again, for this session only.
  func result(of node: ComputedNode, in session: ReadSession) -> ComputedResult {
    let id = ObjectIdentifier(node)
    if let result = results[id] { return result }
    let known = node.results
    let result =
      known.lazy.compactMap { self.fitted($0, session) }.first
      ?? node.runPrivately(in: session, after: known.first)
    results[id] = result
    return result
  }

  /// Returns the result, or `nil` if it does not fit the pinned values.
  ///
  /// Its dependencies are the pinned results, so that no value has two results in one session.
  private func fitted(_ result: ComputedResult, _ session: ReadSession) -> ComputedResult? {
    var replaced: [Int: ComputedResult] = [:]
    for (index, dependency) in result.dependencies.enumerated() {
      switch dependency.content {
      case .value(let record):
        if !record.isSame(as: pinned(record)) { return nil }
      case .computed(let node, let old):
        let new = self.result(of: node, in: session)
        if new === old { continue }
        if !node.areEqual(old, new) { return nil }
        replaced[index] = new
      }
    }
    return replaced.isEmpty ? result : result.replacing(replaced)
  }

  private func pinned(_ record: ValueRecord) -> ValueRecord {
    let id = ObjectIdentifier(record.storage)
    if let pinned = records[id] { return pinned }
    let present = record.isPresent ? record : record.storage.presentRecord()
    records[id] = present
    return present
  }
}

internal import Synchronization

/// The index of a session that reads an earlier instant than the present instant.
extension DependencyIndex {
  /// Adds values that a session has read, and the values below them, so that its later reads find
  /// the values of the same instant.
  ///
  /// The results below an equal result may be older than the instant, with older values of the
  /// sources. The present value is then the value of the instant, if no thread has changed it since.
  func keep(_ reads: [Dependency.Content], at time: UInt) {
    var open = reads
    var next = 0
    while next < open.count {
      let isRead = next < reads.count
      switch open[next] {
      case .value(let record): keep(isRead ? record : record.atInstant(time))
      case .computed(let node, let result):
        let isKnown = isRead || result.isVolatile || result.isCorrect(at: time)
        let known = isKnown ? result : node.result(at: time)
        // Without a known result, the last result is compared with the sources when it is read.
        if keep(known, of: node) { open += (known ?? result).dependencies.map(\.content) }
      }
      next += 1
    }
  }

  private func keep(_ record: ValueRecord) {
    let identity = ObjectIdentifier(record.storage)
    if sources[identity] == nil { setFirst(record, at: addSource(record.storage)) }
  }

  /// Returns `false` if the index has an entry already, which has or computes a result.
  private func keep(_ result: ComputedResult?, of node: ComputedNode) -> Bool {
    let known = values[ObjectIdentifier(node)]
    if let known, result == nil || table[known].result != nil || table[known].phase == .running {
      return false
    }
    let id = value(node)
    guard let result else { return true }
    table[id].result = result
    table[id].phase = .clean
    return true
  }
}

extension ValueRecord {
  /// Returns the present record, unless the storage has changed since the instant.
  fileprivate func atInstant(_ time: UInt) -> ValueRecord {
    if storage.origin != nil || isPresent { return self }
    let present = storage.presentRecord()
    return present.version.load(ordering: .relaxed) <= time ? present : self
  }
}

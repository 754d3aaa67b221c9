extension FamilyStorage {
  /// Releases the entries that are no longer kept.
  ///
  /// Called after the last pin or the last need of an entry has ended.
  func check(_ id: Int) {
    let now = timekeeper.now()
    let (evicted, next) = table.withLock { table -> ([Entry], Duration?) in
      guard let entry = table.entries[id] else { return ([], nil) }
      table.index.check(id, isIdle: entry.core.isIdle, at: now)
      let evicted = table.evict(at: now)
      if table.isAlarmSet { return (evicted, nil) }
      table.isAlarmSet = table.index.nextEviction != nil
      return (evicted, table.index.nextEviction)
    }
    if let next { alarm.setOrRing(at: next) }
    for entry in evicted { entry.core.end() }
  }

  func evict(at instant: Duration) {
    let now = max(instant, timekeeper.now())
    let (evicted, next) = table.withLock { table in
      let evicted = table.evict(at: now)
      table.isAlarmSet = table.index.nextEviction != nil
      return (evicted, table.index.nextEviction)
    }
    if let next { alarm.setOrRing(at: next) }
    for entry in evicted { entry.core.end() }
  }

  func end() {
    alarm.end()
    let entries = table.withLock { table in
      table.hasEnded = true
      table.index = FamilyIndex(keepingUnused: .zero, limit: 0)
      var entries: [Int: Entry] = [:]
      swap(&entries, &table.entries)
      return entries
    }
    for entry in entries.values { entry.core.end() }
  }
}

extension FamilyStorage.Table {
  fileprivate mutating func evict(at now: Duration) -> [FamilyStorage.Entry] {
    index.evict(at: now).compactMap { entries.removeValue(forKey: $0) }
  }
}

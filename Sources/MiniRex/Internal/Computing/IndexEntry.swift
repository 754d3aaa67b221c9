/// A computed value or a source in an index.
struct IndexEntry {
  /// A read of an entry.
  struct Link {
    let reader: EntryID
    /// The index in `children` of the reader.
    let slot: Int32
  }

  enum Phase {
    /// Up to date.
    case clean
    /// A change may affect it, or it has not run yet.
    case marked
    /// It runs, or its dependencies are compared.
    case running
  }

  /// The identity of the storage or the computed value, or `nil` if the entry was removed.
  let identity: ObjectIdentifier?
  /// The storage of a source.
  let storage: VersionedStorage?
  /// The computed value, or `nil` for a source.
  let node: ComputedNode?

  // Of a source.
  var input = Subscription.ended
  /// The value that was read first, or delivered last.
  var record: ValueRecord?
  /// The version of `record` when it was read or delivered.
  ///
  /// The record may be found to be equal to a later value.
  var knownVersion: UInt = 0

  // Of a computed value.
  var result: ComputedResult?
  /// The dependencies of the result, in the order of the reads.
  fileprivate(set) var children: [EntryID] = []
  /// The indices of the links from the children.
  fileprivate var positions: [Int32] = []
  /// The first of the children that a change may affect.
  var firstMarked = 0
  var phase = Phase.clean

  // Of both.
  fileprivate(set) var links: [Link] = []
  /// The last pass that changed its value.
  var changedPass: UInt = 0
  /// The last pass after which its result depends on other places.
  var movedPass: UInt = 0
  /// The last run that read it.
  var readRun: UInt = 0

  static var removed: IndexEntry { IndexEntry(identity: nil, storage: nil, node: nil) }

  private init(identity: ObjectIdentifier?, storage: VersionedStorage?, node: ComputedNode?) {
    (self.identity, self.storage, self.node) = (identity, storage, node)
  }

  init(of storage: VersionedStorage) {
    self.init(identity: ObjectIdentifier(storage), storage: storage, node: nil)
  }

  init(of node: ComputedNode) {
    self.init(identity: ObjectIdentifier(node), storage: nil, node: node)
    phase = .marked
  }
}

extension EntryTable {
  /// Marks the reader of a changed entry.
  ///
  /// Returns `false` if it is marked already.
  func mark(_ link: IndexEntry.Link) -> Bool {
    let (reader, slot) = (link.reader, Int(link.slot))
    if self[reader].phase == .clean {
      self[reader].phase = .marked
      self[reader].firstMarked = slot
      return true
    }
    if slot < self[reader].firstMarked { self[reader].firstMarked = slot }
    return false
  }

  func link(_ child: EntryID, to reader: EntryID) {
    let slot = Int32(self[reader].children.count)
    self[reader].positions.append(Int32(self[child].links.count))
    self[child].links.append(IndexEntry.Link(reader: reader, slot: slot))
    self[reader].children.append(child)
  }

  /// Removes the last child, and returns it.
  func unlinkLast(of reader: EntryID) -> EntryID {
    let child = self[reader].children.removeLast()
    let position = self[reader].positions.removeLast()
    let last = self[child].links.removeLast()
    if Int(position) < self[child].links.count {
      self[child].links[Int(position)] = last
      self[last.reader].positions[Int(last.slot)] = position
    }
    return child
  }
}

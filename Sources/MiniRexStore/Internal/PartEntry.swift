internal import Synchronization

/// A part of a state that may go: an optional one while it is not `nil`, or a row while it is there.
///
/// It is looked for after each commit while anybody uses it: a scope, an effect, an action that waits.
/// Once gone it never comes back; what is there later is another part. Unchecked: what is not atomic is
/// guarded by exclusive access to the store.
@usableFromInline
class PartEntry: @unchecked Sendable {
  private let hasGone = Atomic(false)
  private var users = 0
  private var effects: [Int: RunningEffect] = [:]
  final var members: [MemberKey: ObservedMember] = [:]

  @usableFromInline
  final var isGone: Bool { hasGone.load(ordering: .acquiring) }

  @usableFromInline
  final func use() {
    users += 1
  }

  final func leave() {
    users -= 1
    leaveIfUnused()
  }

  final func leaveIfUnused() {
    if users == 0, !isGone, isEmpty { leaveTable() }
  }

  final func enter(_ effect: RunningEffect) {
    use()
    effects[effect.run.number] = effect
  }

  final func leave(_ effect: RunningEffect) {
    effects[effect.run.number] = nil
    leave()
  }

  /// - Parameters:
  ///   - number: That of the commit with which it has gone.
  ///   - orphans: The effects that belonged to it, and to the parts in it.
  @usableFromInline
  func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    hasGone.store(true, ordering: .releasing)
    orphans += effects.values
    members = [:]
  }

  /// True if nothing in it is looked for.
  var isEmpty: Bool { true }

  /// Is no longer looked for.
  func leaveTable() {}
}

/// A part of the state of a store, by whose type the parts in it are found.
@usableFromInline
class PartOfRoot<Root: Sendable>: PartEntry, @unchecked Sendable {
  @usableFromInline final weak var node: PartNode<Root>?
  /// The part that it is in.
  final weak let outer: PartOfRoot<Root>?
  /// The parts in it; `nil` until there is one.
  @usableFromInline final private(set) var parts: PartTable<Root>?

  @usableFromInline
  init(in outer: PartOfRoot<Root>?) {
    self.outer = outer
  }

  /// The parts in it.
  final var table: PartTable<Root> {
    if let parts { return parts }
    let table = PartTable<Root>()
    table.owner = self
    parts = table
    return table
  }

  override var isEmpty: Bool { parts?.nodes.isEmpty ?? true }

  override func leaveTable() { node?.remove(self) }

  @usableFromInline
  override func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    super.go(number, &orphans)
    parts?.go(number, &orphans)
  }

  /// Those who listen to it, if it is a row.
  func listeners<Action>(in storage: StoreStorage<Root, Action>) -> RowListeners<Root, Action>? {
    nil
  }
}

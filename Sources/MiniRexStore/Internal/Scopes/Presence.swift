internal import Synchronization

/// A removable child: an optional that is not `nil`, or a row.
///
/// Each commit checks a presence while a scope, an effect, or a queued action uses it. A removed
/// presence is never reused: a later child gets a new presence. Unchecked: exclusive access to the
/// store guards everything that is not atomic.
@usableFromInline
class Presence: @unchecked Sendable {
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

  /// Ends the presence, because a commit has removed the child.
  ///
  /// - Parameters:
  ///   - number: The number of the commit.
  ///   - orphans: Receives the effects of the child and of the children in it.
  @usableFromInline
  func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    hasGone.store(true, ordering: .releasing)
    orphans += effects.values
    members = [:]
  }

  /// A Boolean value that indicates whether no child in this child is in use.
  var isEmpty: Bool { true }

  /// Removes the presence from its table.
  func leaveTable() {}
}

/// A removable child with the type of the root, which finds the children in it.
///
/// Unchecked like its superclass, for the same reason.
@usableFromInline
class PresenceIn<Root: Sendable>: Presence, @unchecked Sendable {
  @usableFromInline final weak var node: PresenceNode<Root>?
  /// The enclosing removable child.
  final weak let outer: PresenceIn<Root>?
  /// The removable children in it, `nil` until the first.
  @usableFromInline final private(set) var children: PresenceTable<Root>?

  @usableFromInline
  init(in outer: PresenceIn<Root>?) {
    self.outer = outer
  }

  /// The removable children in it.
  final var table: PresenceTable<Root> {
    if let children { return children }
    let table = PresenceTable<Root>()
    table.owner = self
    children = table
    return table
  }

  override var isEmpty: Bool { children?.nodes.isEmpty ?? true }

  override func leaveTable() { node?.remove(self) }

  @usableFromInline
  override func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    super.go(number, &orphans)
    children?.go(number, &orphans)
  }

  /// Returns the stamp of the list of a child in a row, and whether the row changed since `stamp`.
  ///
  /// For any other child, it returns `nil`.
  func rowChange(
    since stamp: RowsStamp?, in state: Root
  ) -> (stamp: RowsStamp, isChanged: Bool)? {
    outer?.rowChange(since: stamp, in: state)
  }

  /// The subscribers of a row, or `nil` for any other child.
  func listeners<Action>(in storage: StoreStorage<Root, Action>) -> RowSubscribers<Root, Action>? {
    nil
  }
}

public import MiniRex

/// Decides, under the lock of the store's delivery, which threads begin effects.
@usableFromInline
package struct StoreBeginners: Hashable, Sendable {
  /// A thread that begins effects, and how many of those it still has to begin came from inside.
  private struct Beginner: Hashable, Sendable {
    let thread: ThreadID
    var waiting = 0
  }

  private var beginners: [Beginner] = []

  package init() {}

  package var isEmpty: Bool { beginners.isEmpty }

  /// - Returns: False if the thread begins others further down its stack, and these after them, so
  ///   that no beginning is inside another.
  @usableFromInline
  package mutating func begin(_ count: Int, on thread: ThreadID) -> Bool {
    if let index = beginners.firstIndex(where: { $0.thread == thread }) {
      beginners[index].waiting += count
      return false
    }
    beginners.append(Beginner(thread: thread))
    return true
  }

  /// - Returns: How many came from inside while the thread began others; 0 if it is done.
  @usableFromInline
  package mutating func next(on thread: ThreadID) -> Int {
    guard let index = beginners.firstIndex(where: { $0.thread == thread }) else { return 0 }
    let count = beginners[index].waiting
    beginners[index].waiting = 0
    if count == 0 { beginners.remove(at: index) }
    return count
  }
}

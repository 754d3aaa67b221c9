public import MiniRex

/// Decides which threads start effects.
///
/// Guarded by the lock of the store's delivery.
@usableFromInline
package struct EffectStarter: Hashable, Sendable {
  /// A thread that starts effects, and the number of effects entered during a start on that
  /// thread.
  private struct Beginner: Hashable, Sendable {
    let thread: ThreadID
    var waiting = 0
  }

  private var beginners: [Beginner] = []

  package init() {}

  package var isEmpty: Bool { beginners.isEmpty }

  /// - Returns: `false` if the thread is already starting effects further up its stack. The outer
  ///   call starts these effects too, so starts never nest.
  @usableFromInline
  package mutating func begin(_ count: Int, on thread: ThreadID) -> Bool {
    if let index = beginners.firstIndex(where: { $0.thread == thread }) {
      beginners[index].waiting += count
      return false
    }
    beginners.append(Beginner(thread: thread))
    return true
  }

  /// - Returns: The number of effects entered during a start on this thread, 0 if it is done.
  @usableFromInline
  package mutating func next(on thread: ThreadID) -> Int {
    guard let index = beginners.firstIndex(where: { $0.thread == thread }) else { return 0 }
    let count = beginners[index].waiting
    beginners[index].waiting = 0
    if count == 0 { beginners.remove(at: index) }
    return count
  }
}

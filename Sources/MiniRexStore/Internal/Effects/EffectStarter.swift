public import MiniRex

/// Decides which threads start effects.
///
/// Guarded by the lock of the store's delivery.
@usableFromInline
package struct EffectStarter: Hashable, Sendable {
  /// A thread that starts effects, and the number of effects entered during a start on that
  /// thread.
  private struct StartingThread: Hashable, Sendable {
    let thread: ThreadID
    var waiting = 0
  }

  private var threads: [StartingThread] = []

  package init() {}

  package var isEmpty: Bool { threads.isEmpty }

  /// Begins a start of effects on a thread.
  ///
  /// - Returns: `false` if the thread is already starting effects further up its stack. The outer
  ///   call starts these effects too, so starts never nest.
  @usableFromInline
  package mutating func begin(_ count: Int, on thread: ThreadID) -> Bool {
    if let index = threads.firstIndex(where: { $0.thread == thread }) {
      threads[index].waiting += count
      return false
    }
    threads.append(StartingThread(thread: thread))
    return true
  }

  /// Returns the number of effects that were entered during a start on this thread.
  ///
  /// At 0, the start is over.
  @usableFromInline
  package mutating func next(on thread: ThreadID) -> Int {
    guard let index = threads.firstIndex(where: { $0.thread == thread }) else { return 0 }
    let count = threads[index].waiting
    threads[index].waiting = 0
    if count == 0 { threads.remove(at: index) }
    return count
  }
}

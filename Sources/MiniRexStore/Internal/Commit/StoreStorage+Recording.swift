public import MiniRex

/// An object that writes the commits of a store to a file.
package protocol CommitRecorder: AnyObject, Sendable {
  /// Waits while the line of a delivered commit without an action is not in the file.
  func awaitLine(of number: Int)
}

struct WeakRecorder {
  weak let recorder: (any CommitRecorder)?
}

extension Store {
  /// Lets calls that commit a state without an action wait for their line.
  ///
  /// Its encoding may take long, and then the delivering thread does not wait for it. The store does not retain the
  /// recorder.
  package func add(_ recorder: any CommitRecorder) {
    guard case .root(let storage) = backing else { misuse("A scope cannot be recorded.") }
    storage.withAccess {
      storage.inside.recorders.removeAll { $0.recorder == nil }
      storage.inside.recorders.append(WeakRecorder(recorder: recorder))
      storage.inside.isRecorded = true
    }
  }
}

extension StoreStorage {
  /// Commits a change without an action, and waits until its recordings have its line.
  @inlinable @inline(__always)
  func commitChange(_ cause: @autoclosure () -> CommitCause<Action>, on thread: ThreadID) {
    if inside.isRecorded { return commitRecorded(cause(), on: thread) }
    commit(cause(), on: thread)
  }

  @usableFromInline
  func commitRecorded(_ cause: CommitCause<Action>, on thread: ThreadID) {
    let recorders = inside.recorders.compactMap(\.recorder)
    let number = inside.chain.number + 1
    commit(cause, on: thread)
    for recorder in recorders { recorder.awaitLine(of: number) }
  }
}

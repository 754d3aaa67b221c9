// On Linux, one descriptor reports the changes of all watched items.
#if os(Linux) || os(Android)
internal import CLibrary
internal import FoundationEssentials
internal import MiniRex
internal import MiniRexDispatchAdapters

func watch(
  _ path: [CChar], _ connection: Connection<Result<FileChange, POSIXError>>
) throws(POSIXError) -> Subscription {
  try Inotify.shared.watch(path, connection)
}

/// The watched items of the process.
private final class Inotify: Sendable {
  static let shared = Inotify()

  private struct State {
    var descriptor: Int32 = -1
    var reading: Subscription?
    /// The watchers by the number that the system assigns to each file or folder, for any path to
    /// it.
    var watchers: [Int32: [Watcher]] = [:]
  }

  private let state = Lock(State())

  private init() {}

  func watch(
    _ path: [CChar], _ connection: Watcher.Connection
  ) throws(POSIXError) -> Subscription {
    let item = try WatchedItem(path)
    let result: Result<(Int32, Watcher), POSIXError> = state.withLock { state in
      if state.reading == nil {
        state.descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if state.descriptor < 0 { return .failure(.last) }
        state.reading = start(state.descriptor)
      }
      let number = item.watch(in: state.descriptor, interesting)
      if number < 0 { return .failure(.last) }
      let watcher = Watcher(connection, of: item.file)
      state.watchers[number, default: []].append(watcher)
      return .success((number, watcher))
    }
    let (number, watcher) = try result.get()
    // The system reports a removal after the start of the watch only.
    if watcher.hasLostItem {
      remove(watcher, from: number)
      throw POSIXError(.ENOENT)
    }
    return Subscription { self.remove(watcher, from: number) }
  }

  private func remove(_ watcher: Watcher, from number: Int32) {
    // The result is released after the lock, when this function returns.
    _ = state.withLock { state in
      let old = state.watchers[number]
      state.watchers[number]?.removeAll { $0 === watcher }
      if state.watchers[number]?.isEmpty == true {
        state.watchers[number] = nil
        inotify_rm_watch(state.descriptor, number)
      }
      return old
    }
  }

  private func start(_ descriptor: Int32) -> Subscription {
    readable(descriptor, label: "MiniRex.changes") { [self] in
      while true {
        let events = nextEvents(from: descriptor)
        if events.isEmpty { return }
        for event in events { tell(event) }
      }
    }
  }

  private func tell(_ event: InotifyEvent) {
    if event.has(IN_Q_OVERFLOW) {
      let watchers = state.withLock {
        $0.watchers.flatMap { number, watchers in watchers.map { (number, $0) } }
      }
      for (number, watcher) in watchers {
        watcher.connection.broadcast(.success(FileChange(.missed)))
        // The removal may be among the events that were lost.
        finishIfLost(watcher, number)
      }
      return
    }
    let isOver = event.has(IN_IGNORED)
    let watchers = state.withLock { state in
      isOver ? state.watchers.removeValue(forKey: event.watch) : state.watchers[event.watch]
    }
    for watcher in watchers ?? [] {
      if let change = event.change { watcher.connection.broadcast(.success(change)) }
      if isOver { watcher.finish() }
      if event.has(IN_ATTRIB) { finishIfLost(watcher, event.watch) }
    }
  }

  /// Finishes a watcher whose file is removed while another process holds it open.
  ///
  /// The system reports only that its attributes have changed.
  private func finishIfLost(_ watcher: Watcher, _ number: Int32) {
    if !watcher.hasLostItem { return }
    remove(watcher, from: number)
    watcher.connection.broadcast(.success(FileChange(.removed)))
    watcher.finish()
  }
}

private let interesting = UInt32(
  IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF
    | IN_DELETE_SELF)
#endif

// On Linux, one descriptor reports the changes of all watched items.
#if os(Linux) || os(Android)
internal import CLibrary
internal import FoundationEssentials
internal import MiniRex
internal import MiniRexDispatchAdapters

func watch(
  _ path: String, _ connection: Connection<Result<FileChange, POSIXError>>
) throws(POSIXError) -> Subscription {
  try Inotify.shared.watch(path, connection)
}

/// The watched items of the process.
private final class Inotify: Sendable {
  typealias Watcher = Connection<Result<FileChange, POSIXError>>

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

  func watch(_ path: String, _ watcher: Watcher) throws(POSIXError) -> Subscription {
    let result: Result<Int32, POSIXError> = state.withLock { state in
      if state.reading == nil {
        state.descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        if state.descriptor < 0 { return .failure(.last) }
        state.reading = start(state.descriptor)
      }
      let number = unsafe inotify_add_watch(state.descriptor, path, interesting)
      if number < 0 { return .failure(.last) }
      state.watchers[number, default: []].append(watcher)
      return .success(number)
    }
    let number = try result.get()
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
      let watchers = state.withLock { $0.watchers.values.flatMap { $0 } }
      for watcher in watchers { watcher.broadcast(.success(FileChange(.missed))) }
      return
    }
    let isOver = event.has(IN_IGNORED)
    let watchers = state.withLock { state in
      isOver ? state.watchers.removeValue(forKey: event.watch) : state.watchers[event.watch]
    }
    for watcher in watchers ?? [] {
      if let change = event.change { watcher.broadcast(.success(change)) }
      if isOver {
        watcher.broadcast(.failure(POSIXError(.ENOENT)))
        watcher.end()
      }
    }
  }
}

private let interesting = UInt32(
  IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF
    | IN_DELETE_SELF)
#endif

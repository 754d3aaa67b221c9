#if NATS
internal import MiniRex
internal import CNATS
internal import Glibc

/// The thread that reads and writes the sockets of all connections.
///
/// Without a loop, libnats reads on one thread per connection and writes on the publishing thread,
/// which blocks while the server does not read. With a loop, publishing only appends to a buffer.
final class EventLoop: Sendable {
  static let shared = EventLoop()

  private struct State: Sendable {
    var wires: [UInt64: LoopSocket] = [:]
    var jobs: [@Sendable () -> Void] = []
  }

  let poll: Int32
  private let bell: Int32
  private let state = Lock(State())

  private init() {
    poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if poll < 0 || bell < 0 {
      misuse("'NATSConnection' requires two more file descriptors. Raise the limit.")
    }
    _ = cnats_poll_change(poll, EPOLL_CTL_ADD, bell, EPOLLIN.rawValue, 0)
    if !startThread({ [self] in run() }) {
      misuse("'NATSConnection' requires another thread, but the system has none. Raise the limit.")
    }
  }

  func add(_ wire: LoopSocket) {
    state.withLock { $0.wires[wire.id] = wire }
  }

  /// Runs `job` on the thread of the loop.
  ///
  /// `wire` is not called afterward.
  func remove(_ wire: LoopSocket, then job: @escaping @Sendable () -> Void) {
    perform { [self] in
      // Release outside the lock.
      _ = state.withLock { $0.wires.removeValue(forKey: wire.id) }
      job()
    }
  }

  /// Runs `job` on the thread of the loop, where no connection reads or writes concurrently.
  func perform(_ job: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobs.append(job) }
    var one: UInt64 = 1
    _ = write(bell, &one, 8)
  }

  private func run() -> Never {
    let room = 64
    let ids = UnsafeMutablePointer<UInt64>.allocate(capacity: room)
    let events = UnsafeMutablePointer<UInt32>.allocate(capacity: room)
    var recent = RecentSockets()
    while true {
      let count = cnats_poll_wait(poll, ids, events, Int32(room), recent.isEmpty ? -1 : 1)
      for index in 0..<max(0, Int(count)) {
        if ids[index] == 0 {
          runJobs()
        } else if let wire = state.withLock({ $0.wires[ids[index]] }) {
          if wire.isReady(events[index]) { recent.add(wire) }
        }
      }
      recent.writeInTime()
    }
  }

  private func runJobs() {
    var rings: UInt64 = 0
    _ = read(bell, &rings, 8)
    let jobs = state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { job() }
  }
}
#endif

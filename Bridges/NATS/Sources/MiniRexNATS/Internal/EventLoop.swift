internal import CNATS
internal import Glibc

/// The one thread that reads and writes the sockets of all connections.
///
/// libnats would have a thread for each connection that reads, and write on the thread that
/// publishes, which then waits for a server that does not read. Attached to a loop, it only ever
/// appends to a buffer there.
final class EventLoop: Sendable {
  static let shared = EventLoop()

  private struct State: Sendable {
    var wires: [UInt64: Wire] = [:]
    var jobs: [@Sendable () -> Void] = []
  }

  let poll: Int32
  private let bell: Int32
  private let state = Lock(State())

  private init() {
    poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if poll < 0 || bell < 0 { misuse("A connection to NATS needs two more open files.") }
    _ = cnats_poll_change(poll, EPOLL_CTL_ADD, bell, EPOLLIN.rawValue, 0)
    startThread { [self] in run() }
  }

  func add(_ wire: Wire) {
    state.withLock { $0.wires[wire.id] = wire }
  }

  /// Runs `job` on the thread of the loop, after which `wire` is not called any more.
  func remove(_ wire: Wire, then job: @escaping @Sendable () -> Void) {
    perform { [self] in
      // Released after the lock.
      _ = state.withLock { $0.wires.removeValue(forKey: wire.id) }
      job()
    }
  }

  /// Runs `job` on the thread of the loop, while no connection reads or writes there.
  func perform(_ job: @escaping @Sendable () -> Void) {
    state.withLock { $0.jobs.append(job) }
    var one: UInt64 = 1
    _ = write(bell, &one, 8)
  }

  private func run() -> Never {
    let room = 64
    let ids = UnsafeMutablePointer<UInt64>.allocate(capacity: room)
    let events = UnsafeMutablePointer<UInt32>.allocate(capacity: room)
    var recent = RecentWires()
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

/// Starts a thread that no signal of the program's is delivered to.
private func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var (all, before) = (sigset_t(), sigset_t())
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  var thread = pthread_t()
  let start = Unmanaged.passRetained(Start(body)).toOpaque()
  let error = pthread_create(
    &thread, nil,
    { argument in
      if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, start)
  if error != 0 { misuse("A connection to NATS needs one more thread.") }
  pthread_detach(thread)
}

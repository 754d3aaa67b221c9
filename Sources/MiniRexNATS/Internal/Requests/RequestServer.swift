#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex

/// The requests that one connection is answering, and the queue of further ones.
final class RequestServer: Sendable {
  typealias Start = @Sendable (_ number: UInt64) -> Void

  private struct Work: Sendable {
    let replySubject: String
    /// The size and the start of a queued request, or `nil` after its start.
    var waiting: (size: Int, start: Start)?
    /// The subscription to the work, or `nil` before it exists.
    var token: Subscription?
    var isOld = false
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var works: [UInt64: Work] = [:]
    /// The requests by reply subject: subscriptions without a common group answer the same request.
    var numbers: [String: Set<UInt64>] = [:]
    var isProbing = false
    var runningCount = 0
    var waitingBytes = 0
    /// The numbers of the queued requests, from `next`.
    ///
    /// Some of them may have been removed.
    var queue: [UInt64] = []
    var next = 0

    var waitingCount: Int { works.count - runningCount }

    mutating func add(_ work: Work) -> UInt64 {
      lastNumber += 1
      works[lastNumber] = work
      numbers[work.replySubject, default: []].insert(lastNumber)
      return lastNumber
    }

    mutating func remove(_ number: UInt64) -> Work? {
      guard let work = works.removeValue(forKey: number) else { return nil }
      if let waiting = work.waiting { waitingBytes -= waiting.size } else { runningCount -= 1 }
      numbers[work.replySubject]?.remove(number)
      if numbers[work.replySubject]?.isEmpty == true {
        numbers.removeValue(forKey: work.replySubject)
      }
      return work
    }

    mutating func startNext(limit: Int) -> (UInt64, Start)? {
      while runningCount < limit, next < queue.count {
        let number = queue[next]
        next += 1
        if next == queue.count { (queue, next) = ([], 0) }
        guard let waiting = works[number]?.waiting else { continue }
        works[number]?.waiting = nil
        waitingBytes -= waiting.size
        runningCount += 1
        return (number, waiting.start)
      }
      return nil
    }
  }

  private let options: NATSOptions
  private let state = Lock(State())
  /// Starts queued requests.
  private let starting = DispatchQueue(label: "MiniRexNATS.requests")

  init(_ options: NATSOptions) { self.options = options }

  /// The subject for cancellations by requesters.
  static func cancelling(_ subject: String) -> String { "_MINIREX.cancel." + subject }

  var count: Int { state.withLock { $0.works.count } }

  /// Returns `nil` if the request has to be queued.
  func begin(_ replySubject: String) -> UInt64? {
    state.withLock { state in
      if state.waitingCount > 0 || state.runningCount >= options.requestLimit { return nil }
      state.runningCount += 1
      return state.add(Work(replySubject: replySubject))
    }
  }

  /// Queues a request, and calls `start` when a slot is free.
  ///
  /// - Returns: `false` if the queue is full.
  func wait(_ replySubject: String, size: Int, _ start: @escaping Start) -> Bool {
    let waits = state.withLock { state in
      if state.waitingCount >= options.receiveLimit { return false }
      if state.waitingBytes + size > options.receiveLimitInBytes { return false }
      state.waitingBytes += size
      let number = state.add(Work(replySubject: replySubject, waiting: (size, start)))
      state.queue.append(number)
      return true
    }
    // The last running request may have finished in between.
    if waits { startWaiting() }
    return waits
  }

  private func startWaiting() {
    starting.async { [self] in
      while let (number, start) = state.withLock({ $0.startNext(limit: options.requestLimit) }) {
        start(number)
      }
    }
  }

  /// Retains the subscription to the work, unless the work has finished: then the caller releases
  /// it.
  func keep(_ token: Subscription, _ number: UInt64) {
    state.withLock { state in
      if state.works[number] != nil { state.works[number]?.token = token }
    }
  }

  func end(_ number: UInt64) {
    // Release outside the lock.
    let (_, mustStart) = state.withLock { ($0.remove(number), $0.waitingCount > 0) }
    if mustStart { startWaiting() }
  }

  func requesterHasLeft(_ replySubject: String) {
    let works = state.withLock { state in
      (state.numbers[replySubject] ?? []).sorted().compactMap { state.remove($0) }
    }
    for work in works { work.token?.invalidate() }
    if state.withLock({ $0.waitingCount > 0 }) { startWaiting() }
  }

  /// Cancels the requests of a process that were received before a probe.
  ///
  /// - Parameter last: The number of the last of them.
  func requesterHasGone(_ requester: Substring, through last: UInt64) {
    let subjects = state.withLock { state in
      state.works.filter {
        $0.key <= last && Inbox.requester(of: $0.value.replySubject) == requester
      }
      .mapValues(\.replySubject)
    }
    for (_, subject) in subjects.sorted(by: { $0.key < $1.key }) { requesterHasLeft(subject) }
  }

  func cancelAll() {
    let works = state.withLock { state in
      defer {
        (state.works, state.numbers, state.queue) = ([:], [:], [])
        (state.runningCount, state.waitingBytes, state.next) = (0, 0, 0)
      }
      return state.works
    }
    for work in works.values { work.token?.invalidate() }
  }

  /// Probes the requesters of long requests at each interval.
  func probe(over core: ConnectionCore) {
    let mustStart = state.withLock { state in
      defer { state.isProbing = true }
      return !state.isProbing
    }
    if mustStart { probeAgain(over: core) }
  }

  private func probeAgain(over core: ConnectionCore) {
    let wait = max(10, core.options.probeInterval.inMilliseconds)
    core.maintenance.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: wait))) {
      [self, weak core] in
      guard let core else { return }
      let old = state.withLock { state in
        var old: [(replySubject: String, number: UInt64)] = []
        for (number, work) in state.works where Inbox.isMarked(work.replySubject) {
          if work.isOld { old.append((work.replySubject, number)) }
          state.works[number]?.isOld = true
        }
        state.isProbing = !state.works.isEmpty
        return old
      }
      for (requester, works) in Dictionary(
        grouping: old, by: { Inbox.requester(of: $0.replySubject) })
      {
        core.probe(requester, works.map(\.replySubject), through: works.map(\.number).max() ?? 0)
      }
      if state.withLock({ $0.isProbing }) { probeAgain(over: core) }
    }
  }
}

extension ConnectionCore {
  /// Queries a process for the requests that have ended, in messages of less than a kilobyte.
  fileprivate func probe(_ requester: Substring, _ replySubjects: [String], through last: UInt64) {
    inbox.open(over: self)
    let answerSubject = inbox.answerSubject(for: requester, through: last)
    var rest = replySubjects[...]
    while let first = rest.first {
      let numbers = rest.prefix(40).map { $0.dropFirst(requester.count + 1) }
      rest = rest.dropFirst(40)
      var text = numbers.joined(separator: " ")
      text.withUTF8 { bytes in
        try? publish(
          OutgoingMessage(
            subject: first + ".probe", replySubject: answerSubject, headers: [:],
            bytes: UnsafeRawBufferPointer(bytes)))
      }
    }
  }
}
#endif

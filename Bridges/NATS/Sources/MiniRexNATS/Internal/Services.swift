internal import CNATS
internal import Dispatch
internal import MiniRex

/// The requests that are being answered over one connection.
final class Services: Sendable {
  private struct Work: Sendable {
    let replySubject: String
    /// `nil` until the work has been subscribed to.
    var token: Subscription?
    var isOld = false
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var works: [UInt64: Work] = [:]
    /// Several that are not of one group answer the same request.
    var numbers: [String: Set<UInt64>] = [:]
    var isProbing = false

    mutating func remove(_ number: UInt64) -> Work? {
      guard let work = works.removeValue(forKey: number) else { return nil }
      numbers[work.replySubject]?.remove(number)
      if numbers[work.replySubject]?.isEmpty == true {
        numbers.removeValue(forKey: work.replySubject)
      }
      return work
    }
  }

  private let state = Lock(State())

  /// Where requesters tell that they have left.
  static func cancelling(_ subject: String) -> String { "_MINIREX.cancel." + subject }

  var count: Int { state.withLock { $0.works.count } }

  /// `nil` if there are as many as there may be.
  func begin(_ replySubject: String, limit: Int) -> UInt64? {
    state.withLock { state in
      if state.works.count >= limit { return nil }
      state.lastNumber += 1
      state.works[state.lastNumber] = Work(replySubject: replySubject)
      state.numbers[replySubject, default: []].insert(state.lastNumber)
      return state.lastNumber
    }
  }

  /// Keeps what ends the work, unless it is over; then that is for the caller to drop.
  func keep(_ token: Subscription, _ number: UInt64) {
    state.withLock { state in
      if state.works[number] != nil { state.works[number]?.token = token }
    }
  }

  func end(_ number: UInt64) {
    // Released after the lock.
    _ = state.withLock { $0.remove(number) }
  }

  func requesterHasLeft(_ replySubject: String) {
    let works = state.withLock { state in
      (state.numbers[replySubject] ?? []).sorted().compactMap { state.remove($0) }
    }
    for work in works { work.token?.invalidate() }
  }

  func requesterHasGone(_ number: UInt64) {
    let subject = state.withLock { $0.works[number]?.replySubject }
    if let subject { requesterHasLeft(subject) }
  }

  func cancelAll() {
    let works = state.withLock { state in
      defer { (state.works, state.numbers) = ([:], [:]) }
      return state.works
    }
    for work in works.values { work.token?.invalidate() }
  }

  /// Asks at each interval whether somebody still waits for what takes longer than that.
  func probe(over link: Link) {
    let mustStart = state.withLock { state in
      defer { state.isProbing = true }
      return !state.isProbing
    }
    if mustStart { probeAgain(over: link) }
  }

  private func probeAgain(over link: Link) {
    let wait = max(10, link.options.probeInterval.inMilliseconds)
    link.teller.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: wait))) {
      [self, weak link] in
      guard let link else { return }
      let old = state.withLock { state in
        var old: [(String, UInt64)] = []
        for (number, work) in state.works where work.replySubject.hasPrefix(Inbox.mark) {
          if work.isOld { old.append((work.replySubject, number)) }
          state.works[number]?.isOld = true
        }
        state.isProbing = !state.works.isEmpty
        return old
      }
      for (subject, number) in old { link.probe(subject, number) }
      if state.withLock({ $0.isProbing }) { probeAgain(over: link) }
    }
  }
}

extension Link {
  fileprivate func probe(_ replySubject: String, _ number: UInt64) {
    let mine = inbox.prefix + "\(number).gone"
    inbox.open(over: self)
    try? publish(
      Outgoing(
        subject: replySubject + ".probe", replySubject: mine, headers: [:],
        bytes: UnsafeRawBufferPointer(start: nil, count: 0)))
  }
}

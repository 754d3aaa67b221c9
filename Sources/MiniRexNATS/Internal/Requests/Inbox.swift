#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The subscription for all replies to the requests of one connection.
///
/// The reply to request `n` arrives on `_INBOX.minirex-1.ID.n`, after progress on `….n.progress`.
/// The answering process probes `….n.probe` with the numbers of several requests. If the requester's
/// process has stopped, the server answers that there are no responders. Otherwise this inbox
/// answers with the numbers of the requests that have ended. The options can replace `_INBOX`.
final class Inbox: Sendable {
  enum Answer {
    case result(RawMessage)
    case progress(RawMessage)
    case failure(NATSError)
  }

  struct Request: Sendable {
    let subject: String
    let receive: @Sendable (Answer) -> Void
    /// The only lane that delivers to the request, or `nil` if the first lane does.
    fileprivate(set) var lane: ObjectIdentifier?

    init(subject: String, receive: @escaping @Sendable (Answer) -> Void) {
      (self.subject, self.receive) = (subject, receive)
    }
  }

  /// The requests whose numbers have the same remainder.
  ///
  /// While many requests are in flight, one thread adds them and another removes them. With one lock for all, each
  /// would wake the other for every request.
  private final class Shard: Sendable {
    let requests = Lock<[UInt64: Request]>([:])
  }

  private static let shardCount = 8

  /// The part by which an answering connection recognizes requesters of this library.
  private static let mark = ".minirex-1."

  /// The part of a subject for the answer to a probe, between the number of the last request of the
  /// process and the requester.
  private static let gone = ".gone."

  let prefix: String
  private let lastNumber = Atomic<UInt64>(0)
  private let shards = (0..<Inbox.shardCount).map { _ in Shard() }
  private let lane = Lock<Lane?>(nil)

  /// - Parameter inboxPrefix: The first part of the subject.
  init(_ inboxPrefix: String) {
    prefix =
      inboxPrefix + Inbox.mark + UInt64.random(in: 0 ... .max).letters
      + UInt64.random(in: 0 ... .max).letters + "."
  }

  /// Returns a Boolean value that indicates whether a requester of this library uses the subject.
  static func isMarked(_ replySubject: String) -> Bool {
    var rest = replySubject.utf8[...]
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      if rest[dot...].starts(with: mark.utf8) { return true }
      rest = rest[rest.index(after: dot)...]
    }
    return false
  }

  /// Returns a reply subject without the number of the request.
  static func requester(of replySubject: String) -> Substring {
    replySubject.lastIndex(of: ".").map { replySubject[..<$0] } ?? ""
  }

  /// Returns the subject for the answer to a probe of the requests up to a number.
  func answerSubject(for requester: Substring, through number: UInt64) -> String {
    prefix + "\(number)" + Self.gone + requester
  }

  func replySubject(of number: UInt64) -> String { prefix + "\(number)" }

  /// The requests with the remainder of a number.
  private func shard(of number: UInt64) -> Shard {
    shards[Int(number % UInt64(Inbox.shardCount))]
  }

  private func takeAll() -> [(number: UInt64, request: Request)] {
    var all: [(number: UInt64, request: Request)] = []
    for shard in shards {
      let requests = shard.requests.withLock { requests in
        defer { requests = [:] }
        return requests
      }
      for (number, request) in requests { all.append((number, request)) }
    }
    return all.sorted { $0.number < $1.number }
  }

  /// Adds a request, after subscribing to the replies.
  ///
  /// - Parameter hasProgress: A Boolean value that indicates whether one lane delivers all replies. Two lanes would repeat
  ///   progress, and lose the last of it.
  func add(_ request: Request, hasProgress: Bool, over core: ConnectionCore) -> UInt64 {
    open(over: core)
    let number = lastNumber.add(1, ordering: .relaxed).newValue
    if !hasProgress {
      shard(of: number).requests.withLock { $0[number] = request }
      return number
    }
    return lane.withLock { lane in
      var request = request
      request.lane = lane.map { ObjectIdentifier($0) }
      shard(of: number).requests.withLock { [request] in $0[number] = request }
      return number
    }
  }

  /// Subscribes once, and again while a callback of the subscription blocks.
  ///
  /// Concurrent callers wait until the first has subscribed.
  ///
  /// Without the wait, a request could be sent before the subscription, and its reply would be
  /// lost. The lock is held across `ConnectionCore.subscribe`, which runs no user code.
  func open(over core: ConnectionCore) {
    let change = lane.withLock { lane -> (blocked: Lane, next: Lane)? in
      if let lane, !lane.isBlocked { return nil }
      let next = Lane(self, over: core, replacesBlocked: lane != nil)
      defer { lane = next }
      return lane.map { ($0, next) }
    }
    if let change { change.blocked.endLater(of: self, over: core, after: change.next) }
  }

  /// Subscribes again after a lost connection.
  ///
  /// Replies over the next connection then do not wait for callbacks that are still running.
  func reopen(over core: ConnectionCore) {
    let old = lane.withLock { lane -> Lane? in
      guard let old = lane else { return nil }
      let new = Lane(self, over: core, replacesBlocked: false)
      lane = new
      for shard in shards {
        shard.requests.withLock { requests in
          for number in requests.keys where requests[number]?.lane != nil {
            requests[number]?.lane = ObjectIdentifier(new)
          }
        }
      }
      return old
    }
    old?.end()
  }

  /// Returns `nil` if the request was answered.
  func remove(_ number: UInt64) -> Request? {
    shard(of: number).requests.withLock { $0.removeValue(forKey: number) }
  }

  private func remove(_ number: UInt64, from lane: Lane) -> Request? {
    shard(of: number).requests.withLock { requests in
      let only = requests[number]?.lane
      if let only, only != ObjectIdentifier(lane) { return nil }
      return requests.removeValue(forKey: number)
    }
  }

  /// Fails the requests whose replies were expected on the lost connection.
  ///
  /// Their callbacks run on separate threads, so a callback that blocks delays no other.
  func failLost() {
    for (_, request) in takeAll() {
      DispatchQueue.global().async { request.receive(.failure(.disconnected)) }
    }
  }

  func failAll(_ error: NATSError) {
    for (_, request) in takeAll() { request.receive(.failure(error)) }
  }

  fileprivate func has(requestsOf lane: Lane) -> Bool {
    shards.contains { shard in
      shard.requests.withLock { $0.values.contains { $0.lane == ObjectIdentifier(lane) } }
    }
  }

  fileprivate func take(_ message: RawMessage, from lane: Lane, over core: ConnectionCore) {
    let (number, rest) = message.number(after: prefix.utf8.count)
    guard let number else { return }
    switch rest {
    case "":
      guard let request = remove(number, from: lane) else { return }
      if message.saysNoResponders { return request.receive(.failure(.noResponders)) }
      request.receive(.result(message))
    case ".progress":
      let request = shard(of: number).requests.withLock { $0[number] }
      guard let request, request.lane.map({ $0 == ObjectIdentifier(lane) }) ?? true else { return }
      request.receive(.progress(message))
    case ".probe":
      guard let reply = message.replySubject else { return }
      let ended = String(decoding: message.bytes, as: UTF8.self).split(separator: " ").filter {
        UInt64($0).map { number in
          shard(of: number).requests.withLock { $0[number] == nil }
        } ?? false
      }
      if !ended.isEmpty { core.sendText(reply, ended.joined(separator: " ")) }
    case _ where rest.hasPrefix(Self.gone):
      let requester = rest.dropFirst(Self.gone.count)
      if message.saysNoResponders {
        return core.services.requesterHasGone(requester, through: number)
      }
      for part in String(decoding: message.bytes, as: UTF8.self).split(separator: " ") {
        core.services.requesterHasLeft("\(requester).\(part)")
      }
    default: break
    }
  }
}

/// A subscription of an inbox.
///
/// It runs the callbacks of tasks, which are user code. While one of them blocks, the inbox has
/// another lane for the same subject: both receive each reply, and the first takes the request. A
/// request with progress belongs to the lane that was current when it was sent.
private final class Lane: Sendable {
  /// The time after which a callback counts as blocked.
  private static let patience: UInt64 = 10_000_000
  /// The time after which it does in the first second after a blocked lane.
  ///
  /// On a busy machine, many callbacks wait for a processor, and each lane costs a copy of each reply.
  private static let longPatience: UInt64 = 100_000_000

  /// The time at which the current callback began, or 0.
  private let began = Atomic<UInt64>(0)
  /// The time until which the long patience applies.
  private let isPatientUntil: UInt64
  private let count = Atomic(0)
  private let subscription = ServerSubscription(isEssential: true)

  init(_ inbox: Inbox, over core: ConnectionCore, replacesBlocked: Bool) {
    isPatientUntil = replacesBlocked ? DispatchTime.now().uptimeNanoseconds + 1_000_000_000 : 0
    let handler = MessageHandler(inbox.prefix + ">", queue: nil, subscription, over: core) {
      [weak core, self] message in
      guard let core else { return }
      began.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
      inbox.take(message, from: self, over: core)
      began.store(0, ordering: .relaxed)
      count.add(1, ordering: .relaxed)
    }
    core.subscribe(subscription, handler)
  }

  var isBlocked: Bool {
    let began = began.load(ordering: .relaxed)
    if began == 0 { return false }
    let now = DispatchTime.now().uptimeNanoseconds
    return now > began + (now < isPatientUntil ? Self.longPatience : Self.patience)
  }

  func end() { subscription.end() }

  /// Ends the lane when it is not needed.
  ///
  /// Three conditions: the server has the subscription of the next lane, the lane has delivered the replies that it
  /// received before, no request needs it.
  ///
  /// Without a message in progress, its replies may still wait: other subscriptions share its thread.
  ///
  /// - Parameters:
  ///   - ping: The PING that follows the subscription of the next lane, if it was sent.
  ///   - last: The number of the last of these replies, or `nil` before the next lane receives.
  func endLater(
    of inbox: Inbox, over core: ConnectionCore, after next: Lane,
    ping: (connection: UInt, number: Int)? = nil, last: Int? = nil
  ) {
    core.maintenance.asyncAfter(deadline: .now() + .milliseconds(200)) {
      [self, weak inbox, weak core] in
      guard let inbox, let core, !core.isClosed else { return end() }
      var (ping, last) = (ping, last)
      if last == nil, next.isReached(&ping) { last = subscription.receivedCount ?? 0 }
      if let last, count.load(ordering: .relaxed) >= last, !inbox.has(requestsOf: self) {
        return end()
      }
      endLater(of: inbox, over: core, after: next, ping: ping, last: last)
    }
  }

  /// Returns `true` if the server has the subscription, or had it and a later lane took its place.
  private func isReached(_ ping: inout (connection: UInt, number: Int)?) -> Bool {
    if subscription.isOver { return true }
    guard let connection = subscription.connection else { return false }
    if let ping, ping.connection == connection.closure {
      return connection.hasAnswered(ping.number)
    }
    ping = (connection.closure, connection.ping())
    return false
  }
}

extension UInt64 {
  /// A short form that is valid in a part of a subject.
  var letters: String { String(self, radix: 36) }
}

extension RawMessage {
  /// Returns the number behind `count` characters of the subject, and the rest of the subject.
  ///
  /// A server may send any subject, also a shorter one.
  func number(after count: Int) -> (UInt64?, String) {
    guard var letter = natsMsg_GetSubject(pointer), strlen(letter) >= count else {
      return (nil, "")
    }
    letter += count
    var number: UInt64?
    while let digit = UInt8(exactly: letter.pointee), 0x30...0x39 ~= digit {
      let (product, overflows) = (number ?? 0).multipliedReportingOverflow(by: 10)
      if overflows { return (nil, "") }
      number = product &+ UInt64(digit - 0x30)
      letter += 1
    }
    return (number, letter.pointee == 0 ? "" : String(cString: letter))
  }
}
#endif

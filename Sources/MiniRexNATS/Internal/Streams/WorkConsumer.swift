#if NATS
internal import Dispatch
internal import MiniRex
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The durable consumer that the processes with one name share.
struct WorkOrder: Sendable {
  let stream: StreamID
  let durable: String
  let filter: String?
  let ackWait: Int64
  var limit: Int
  let maxDeliveries: Int?

  /// The subject that all participants subscribe to, as a queue group.
  var deliverSubject: String { "_MINIREX.work.\(stream.name).\(durable)" }

  struct Config: Encodable {
    let durableName: String
    let deliverSubject: String
    let deliverGroup: String
    let filterSubject: String?
    let deliverPolicy = "all"
    let ackPolicy = "explicit"
    let ackWait: Int64
    let maxDeliver: Int
    let maxAckPending: Int
    let replayPolicy = "instant"
  }

  var request: JetStream.ConsumerRequest<Config> {
    JetStream.ConsumerRequest(
      streamName: stream.name,
      config: Config(
        durableName: durable, deliverSubject: deliverSubject, deliverGroup: durable,
        filterSubject: filter, ackWait: ackWait, maxDeliver: maxDeliveries ?? -1,
        maxAckPending: limit))
  }
}

/// Takes part in the work of a durable consumer, and creates the consumer if it does not exist.
///
/// Heartbeats of a queue group would each reach one participant only. So each participant queries
/// the consumer every two to three seconds.
final class WorkConsumer: Sendable {
  private struct State: Sendable {
    var order: WorkOrder
    var subscription: Subscription?
    var asking: Subscription?
    /// The number of the last request.
    var request = 0
    var isPending = false
    var retry = ConsumerRetry()
    /// The creation time of the consumer, or `nil` until the server has reported it.
    var created: String?
    var generation = WorkGeneration()
    var isOver = false
  }

  private let core: ConnectionCore
  private let state: Lock<State>

  init(_ order: WorkOrder, over core: ConnectionCore) {
    self.core = core
    state = Lock(State(order: order))
  }

  /// Takes part until the subscription is canceled.
  ///
  /// - Parameter receive: Called with each job, and released after the connection has closed.
  func start(
    _ receive: @escaping @Sendable (RawMessage, MessageMetadata, WorkGeneration) -> Void
  ) -> Subscription {
    let order = state.withLock { $0.order }
    let subscription = core.subscribe(to: order.deliverSubject, queue: order.durable) {
      [weak self, core] message in
      if let place = MessageMetadata(message) {
        if let self { receive(message, place, state.withLock { $0.generation }) }
      } else if message.header("Status") == nil {
        core.report(
          .undecodable(subject: order.deliverSubject, reason: "The message is not from a stream."))
      }
    }
    state.withLock { $0.subscription = subscription }
    let id = core.onReturn { [weak self] in self?.create() }
    create()
    watch()
    return Subscription { [self] in
      core.removeOnReturn(id)
      end()
    }
  }

  private func end() {
    let tokens = state.withLock { state in
      state.isOver = true
      defer { (state.subscription, state.asking) = (nil, nil) }
      return [state.subscription, state.asking]
    }
    for token in tokens { token?.invalidate() }
  }

  private func watch() {
    let wait = ConsumerConfig.heartbeat + .random(in: 0...1_000)
    core.maintenance.asyncAfter(deadline: .now() + .milliseconds(wait)) { [weak self] in
      guard let self, !state.withLock({ $0.isOver }) else { return }
      // A pending request already looks at the consumer.
      if state.withLock({ $0.created != nil && !$0.isPending }) { look() }
      watch()
    }
  }
}

extension WorkConsumer {
  /// Creates the consumer if it does not exist, also after each reconnect: the new server may have
  /// other data.
  private func create() {
    let order = state.withLock { $0.order }
    ask(
      order.stream.subject("CONSUMER.DURABLE.CREATE", consumer: order.durable),
      JetStream.encode(order.request), { _ in }
    ) { [weak self] error, request in
      guard let self else { return }
      if let limit = error.limitOfUnacknowledged(below: order.limit) {
        state.withLock { $0.order.limit = limit }
        return create()
      }
      report(error)
      if error == .closed { return }
      core.maintenance.asyncAfter(
        deadline: .now() + .milliseconds(ConsumerRetry.milliseconds(after: error))
      ) { [weak self] in
        if let self, state.withLock({ $0.request }) == request { create() }
      }
    }
  }

  private func look() {
    let order = state.withLock { $0.order }
    ask(
      order.stream.subject("CONSUMER.INFO", consumer: order.durable), Data(),
      // If another client created it with another configuration, the server refuses this one.
      { [weak self] isNew in if isNew { self?.create() } }
    ) { [weak self] error, _ in
      if error == .noStream(order.stream.name) || error.isMissingConsumer {
        self?.create()
      } else {
        self?.report(error)
      }
    }
  }

  /// Replaces the pending request.
  ///
  /// - Parameters:
  ///   - succeed: Called with `true` if the consumer is not the known consumer.
  ///   - fail: Called with the error and the number of the request.
  private func ask(
    _ subject: String, _ body: Data, _ succeed: @escaping @Sendable (_ isNew: Bool) -> Void,
    _ fail: @escaping @Sendable (NATSError, _ request: Int) -> Void
  ) {
    let begun = state.withLock { state -> (StreamID, Int, Duration)? in
      if state.isOver { return nil }
      state.request += 1
      state.isPending = true
      return (state.order.stream, state.request, state.retry.timeout)
    }
    guard let (stream, request, timeout) = begun else { return }
    let asking = core.ask(JetStream.Consumer.self, stream, on: subject, body, timeout: timeout)
    let token = asking.subscribe(
      success: { [weak self] consumer in
        if let self, hasReply(to: request) { succeed(isThere(consumer)) }
      },
      failure: { [weak self] error in
        if let self, hasReply(to: request) { fail(error, request) }
      })
    let old = state.withLock { state -> Subscription? in
      if state.isOver || state.request != request { return token }
      defer { state.asking = token }
      return state.asking
    }
    old?.invalidate()
  }

  /// Returns `false` if there is a later request.
  private func hasReply(to request: Int) -> Bool {
    state.withLock { state in
      if state.isOver || state.request != request { return false }
      state.isPending = false
      return true
    }
  }

  /// Returns `true` if the consumer is not the known consumer.
  private func isThere(_ consumer: JetStream.Consumer) -> Bool {
    let (old, order) = state.withLock { state -> (WorkGeneration?, WorkOrder) in
      state.retry.hasSucceeded()
      defer { state.created = consumer.created }
      if state.created ?? consumer.created == consumer.created { return (nil, state.order) }
      defer { state.generation = WorkGeneration() }
      return (state.generation, state.order)
    }
    guard let old else { return false }
    old.end()
    core.report(.workRestarted(stream: order.stream.name, durable: order.durable))
    return true
  }

  private func report(_ error: NATSError) {
    let stream = state.withLock { $0.retry.hasFailed(error) ? $0.order.stream.name : nil }
    if let stream, error != .closed { core.report(.notRead(stream: stream, error)) }
  }
}

/// The deliveries of one consumer.
///
/// A consumer with the same name may deliver other messages with the same numbers. So acknowledgments of
/// an earlier consumer are not sent.
final class WorkGeneration: Sendable {
  private let hasEnded = Atomic(false)

  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  func end() { hasEnded.store(true, ordering: .releasing) }
}

/// The reply to one delivery, sent once.
final class Acknowledgement: Sendable {
  private let replySubject: String
  private let core: ConnectionCore
  private let generation: WorkGeneration
  private let isSaid = Lock(false)

  init(_ replySubject: String, in generation: WorkGeneration, over core: ConnectionCore) {
    self.replySubject = replySubject
    self.generation = generation
    self.core = core
  }

  func send(_ word: String) {
    let isFirst = isSaid.withLock { isSaid in
      defer { isSaid = true }
      return !isSaid
    }
    if isFirst, !generation.isOver { core.sendText(replySubject, word) }
  }

  func extend() {
    if !isSaid.withLock({ $0 }), !generation.isOver { core.sendText(replySubject, "+WPI") }
  }
}
#endif

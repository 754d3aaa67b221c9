internal import Dispatch
internal import MiniRex

struct WorkOrder: Sendable {
  let stream: String
  let durable: String
  let filter: String?
  let ackWait: Int64
  let limit: Int
  let maxDeliveries: Int?

  /// All who share the work are subscribed to this, as a queue group.
  var deliverSubject: String { "_MINIREX.work.\(stream).\(durable)" }

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

  struct Wish: Encodable {
    let streamName: String
    let config: Config
  }

  var wish: Wish {
    Wish(
      streamName: stream,
      config: Config(
        durableName: durable, deliverSubject: deliverSubject, deliverGroup: durable,
        filterSubject: filter, ackWait: ackWait, maxDeliver: maxDeliveries ?? -1,
        maxAckPending: limit))
  }
}

/// Takes part in the work of a durable consumer, which it makes if there is none.
final class Worker: Sendable {
  private struct State: Sendable {
    var feed: Subscription?
    var asking: Subscription?
    var failure: NATSError?
    var isOver = false
  }

  private let order: WorkOrder
  private let link: Link
  private let state = Lock(State())

  init(_ order: WorkOrder, over link: Link) {
    self.order = order
    self.link = link
  }

  /// Takes part until the token ends; `receive` is released when the connection has closed, too.
  func start(_ receive: @escaping @Sendable (RawMessage, Place) -> Void) -> Subscription {
    let feed = link.subscribe(to: order.deliverSubject, queue: order.durable) {
      [link, order] message in
      if let place = Place(message) { return receive(message, place) }
      if message.header("Status") == nil {
        link.tell(.undecodable(subject: order.deliverSubject, reason: "It is not from a stream."))
      }
    }
    state.withLock { $0.feed = feed }
    let id = link.onReturn { [weak self] in self?.ask() }
    ask()
    return Subscription { [self] in
      link.removeOnReturn(id)
      end()
    }
  }

  private func end() {
    let tokens = state.withLock { state in
      state.isOver = true
      defer { (state.feed, state.asking) = (nil, nil) }
      return [state.feed, state.asking]
    }
    for token in tokens { token?.invalidate() }
  }

  /// Asks each time the connection is there again: the server may have another disk by then.
  private func ask() {
    if state.withLock({ $0.isOver }) { return }
    let task = link.ask(
      JetStream.Nothing.self, of: order.stream,
      on: "$JS.API.CONSUMER.DURABLE.CREATE.\(order.stream).\(order.durable)",
      JetStream.encode(order.wish))
    let token = task.subscribe(
      success: { [weak self] _ in _ = self?.state.withLock { $0.failure = nil } },
      failure: { [weak self] in self?.hasFailed($0) })
    let old = state.withLock { state -> Subscription? in
      if state.isOver { return token }
      defer { state.asking = token }
      return state.asking
    }
    old?.invalidate()
  }

  private func hasFailed(_ error: NATSError) {
    let isNews = state.withLock { state -> Bool? in
      if state.isOver { return nil }
      defer { state.failure = error }
      return state.failure != error
    }
    guard let isNews, error != .closed else { return }
    if isNews { link.tell(.notRead(stream: order.stream, error)) }
    link.teller.asyncAfter(deadline: .now() + .milliseconds(error == .noResponders ? 250 : 1_000)) {
      [weak self] in self?.ask()
    }
  }
}

/// What is said of a message that was delivered; the first word counts.
final class Acknowledgement: Sendable {
  private let replySubject: String
  private let link: Link
  private let isSaid = Lock(false)

  init(_ replySubject: String, over link: Link) {
    self.replySubject = replySubject
    self.link = link
  }

  func send(_ word: String) {
    let isFirst = isSaid.withLock { isSaid in
      defer { isSaid = true }
      return !isSaid
    }
    if isFirst { link.say(replySubject, word) }
  }

  func sayWorking() {
    if !isSaid.withLock({ $0 }) { link.say(replySubject, "+WPI") }
  }
}

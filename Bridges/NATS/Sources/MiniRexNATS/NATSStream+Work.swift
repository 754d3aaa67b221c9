public import MiniRex

extension NATSStream {
  /// Calls with messages to be worked on, each at least once, shared by all who use the same name.
  ///
  /// ```swift
  /// let jobs = board.work(of: Job.self, durable: "billing").subscribe { delivery in
  ///   run(delivery.payload)
  ///   delivery.ack()
  /// }
  /// ```
  ///
  /// The server remembers under `durable` what has been done, for as long as the stream exists. A
  /// message that is not acknowledged within `ackWait` comes again, to whoever of them takes it: so
  /// do those of a process that was killed. One whose payload cannot be decoded is rejected, and told
  /// on ``NATSConnection/troubles``.
  ///
  /// - Parameters:
  ///   - type: What the payloads are.
  ///   - durable: The name, without dots and spaces.
  ///   - subject: One or several of the stream's subjects, with wildcards; `nil` for all.
  ///   - ackWait: After which a message that is not acknowledged comes again: 30 seconds. It counts
  ///     from when the server has sent it, and what waits for a slow callback counts too.
  ///   - limit: How many may be on their way without having been acknowledged, for all who share it:
  ///     100.
  ///   - maxDeliveries: How often a message is delivered at most; `nil` for no end of it.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func work<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, durable: String, on subject: String? = nil,
    ackWait: Duration = .seconds(30), limit: Int = 100, maxDeliveries: Int? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Delivery<Payload>> {
    let link = link
    let order = WorkOrder(
      stream: name, durable: durable, filter: subject, ackWait: ackWait.inNanoseconds,
      limit: max(1, limit), maxDeliveries: maxDeliveries)
    return Broadcaster { receive in
      Worker(order, over: link).start { message, place in
        guard let replySubject = message.replySubject else { return }
        let answer = Acknowledgement(replySubject, over: link)
        do throws(NATSError) {
          receive(
            Delivery(
              payload: try Codec<Payload>.decode(message.bytes), subject: message.subject,
              headers: try message.headers(), sequence: place.sequence,
              count: Int(clamping: place.deliveries), pending: place.pending, answer: answer))
        } catch {
          link.tell(.undecodable(subject: message.subject, reason: "\(error)"))
          answer.send("+TERM")
        }
      }
    }.share().trace("\(name): \(durable)", fileID: fileID, line: line)
  }
}

#if NATS
public import MiniRex

extension NATSStream {
  /// Emits messages to process, each at least once, shared by all processes with the same durable
  /// name.
  ///
  /// ```swift
  /// let jobs = board.work(of: Job.self, durable: "billing").subscribe { delivery in
  ///   run(delivery.payload)
  ///   delivery.ack()
  /// }
  /// ```
  ///
  /// The server stores the progress under `durable`, for as long as the stream exists. A message
  /// that is not acknowledged within `ackWait` is delivered again to one of the processes, even
  /// after its process was killed. A payload that cannot be decoded is rejected and reported on
  /// ``NATSConnection/diagnostics``.
  ///
  /// If the consumer is removed while the connection stays, or the stream is created again, work
  /// continues within a few seconds: all messages of the stream are delivered again, and
  /// ``NATSDiagnostic/workRestarted(stream:durable:)`` reports it.
  ///
  /// - Parameters:
  ///   - type: The type of the payloads.
  ///   - durable: The name, without dots, spaces, wildcards, and slashes. An invalid name is
  ///     reported on ``NATSConnection/diagnostics``.
  ///   - subject: One or several of the stream's subjects, with wildcards, or `nil`, the default,
  ///     for all.
  ///   - ackWait: The time after which an unacknowledged message is delivered again. The default is
  ///     30 seconds. It starts when the server sends the message, and includes the time in the
  ///     queue of a slow callback.
  ///   - limit: The maximum number of unacknowledged messages of all processes. The default is 100,
  ///     or the limit of the server if that is less.
  ///   - maxDeliveries: The maximum number of deliveries of a message, or `nil`, the default, for
  ///     no limit.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public func work<Payload: Codable & Sendable>(
    of type: Payload.Type = Payload.self, durable: String, on subject: String? = nil,
    ackWait: Duration = .seconds(30), limit: Int = 100, maxDeliveries: Int? = nil,
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<NATSDelivery<Payload>> {
    let core = core
    let order = WorkOrder(
      stream: id, durable: durable, filter: subject, ackWait: ackWait.inNanoseconds,
      limit: max(1, limit), maxDeliveries: maxDeliveries)
    return Broadcaster { [name] receive in
      if let diagnostic = NATSDiagnostic(stream: name, durable: durable, filter: subject) {
        core.report(diagnostic)
        return .ended
      }
      return WorkConsumer(order, over: core).start { message, place, generation in
        guard let replySubject = message.replySubject else { return }
        let answer = Acknowledgement(replySubject, in: generation, over: core)
        do throws(NATSError) {
          let received = NATSDelivery(
            payload: try Codec<Payload>.decode(message.bytes), subject: message.subject,
            headers: message.headers(over: core), sequence: place.sequence,
            count: Int(clamping: place.deliveries), pending: place.pending, answer: answer)
          core.inContext(of: message) { receive(received) }
        } catch {
          core.report(.undecodable(subject: message.subject, reason: "\(error)"))
          answer.send("+TERM")
        }
      }
    }.share().trace("\(name): \(durable)", fileID: fileID, line: line)
  }
}
#endif

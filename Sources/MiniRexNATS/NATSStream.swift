#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A stream of messages, which a server stores in one order with JetStream.
///
/// ```swift
/// let board = nats.stream("board")
/// let appended = board.append(Event.moved, expecting: lastSequence)
/// let events = board.broadcaster(of: Event.self, from: .beginning)
/// ```
public struct NATSStream: Sendable {
  let core: ConnectionCore

  /// The name of the stream.
  public let name: String

  var id: StreamID { StreamID(name: name, domain: core.options.jetStreamDomain) }
}

extension NATSConnection {
  /// Returns the stream with a name, whether it exists or not.
  ///
  /// ``NATSStream/create(_:)`` creates it. Operations on a name with a dot, a space, a wildcard, or
  /// a slash fail with ``NATSError/invalidSubject(_:)``.
  public func stream(_ name: String) -> NATSStream {
    NATSStream(core: core, name: name)
  }
}

/// The subjects, the storage, and the limits of a stream.
public struct NATSStreamOptions: Sendable {
  /// The subjects that the stream stores, or `nil`, the default, for the stream's name and all
  /// subjects below it.
  public var subjects: [String]?
  /// The maximum number of messages, or `nil`, the default, for no limit.
  ///
  /// ``discardPolicy`` decides about a message beyond it.
  public var maxMessages: Int?
  /// The maximum size of the stream in bytes, or `nil`, the default, for the limit of the server.
  ///
  /// ``discardPolicy`` decides about a message beyond it.
  public var maxBytes: Int?
  /// The age at which a message is removed, or `nil`, the default, for messages that do not expire.
  public var maxAge: Duration?
  /// The time for which the server recognizes the `id` of a message.
  ///
  /// The default is `nil`, for two minutes, or ``maxAge`` if that is shorter. A window longer than
  /// ``maxAge`` fails with ``NATSError/invalidOptions(_:)``.
  public var duplicateWindow: Duration?
  /// The message that a full stream discards.
  ///
  /// The default is `.old`.
  public var discardPolicy = DiscardPolicy.old
  /// The number of servers in a cluster that store the stream.
  ///
  /// The default is 1.
  public var replicas = 1
  /// A Boolean value that indicates whether the stream is in memory only and lost with the server.
  ///
  /// The default is `false`.
  public var inMemory = false

  /// The stream to copy, or `nil`, the default, for a stream with its own subjects.
  ///
  /// A mirror has the messages and the sequences of its origin. Append to the origin.
  public var mirror: NATSMirror?

  /// Creates options with their defaults.
  public init() {}

  /// The treatment of a message beyond the limits of a stream.
  public enum DiscardPolicy: String, Hashable, Sendable {
    /// Removes the oldest messages of the stream.
    case old
    /// Refuses the new message: the append fails.
    case new
  }

  /// Unavailable; use ``discardPolicy``.
  @available(*, unavailable, message: "Use 'discardPolicy', with '.new' for true.")
  public var refusesWhenFull: Bool {
    get { discardPolicy == .new }
    set { discardPolicy = newValue ? .new : .old }
  }
}

extension NATSStream {
  /// Creates the stream, or succeeds if a stream with these options exists.
  ///
  /// The task fails if a stream with the name keeps other messages. It compares subjects, limits, storage,
  /// replicas, and the mirror, and accepts everything else that another client has set. It starts with the
  /// first subscriber.
  public func create(
    _ options: NATSStreamOptions = NATSStreamOptions()
  ) -> PublishedTask<Void, NATSError> {
    if let window = options.duplicateWindow, let maxAge = options.maxAge, window > maxAge {
      return .failure(
        .invalidOptions("'duplicateWindow' is \(window), longer than 'maxAge': \(maxAge)."))
    }
    var config = StreamConfig(
      name, subjects: options.subjects ?? [name, "\(name).>"],
      mirror: options.mirror.map { StreamConfig.Mirror($0) }, maxAge: options.maxAge,
      maxBytes: options.maxBytes, inMemory: options.inMemory, replicas: options.replicas)
    config.duplicateWindow = options.duplicateWindow?.inNanoseconds
    config.maxMsgs = options.maxMessages ?? -1
    config.discard = options.discardPolicy.rawValue
    return core.create(config, in: id.domain)
  }

  /// Removes the stream with all its messages.
  public func remove() -> PublishedTask<Void, NATSError> {
    core.removeStream(id)
  }

  /// Removes all messages, or those before a sequence, and keeps the stream.
  ///
  /// No message precedes 0 or 1, so these remove nothing. A server would take them for all messages.
  public func purge(before sequence: UInt64? = nil) -> PublishedTask<Void, NATSError> {
    struct Wish: Encodable { let seq: UInt64? }
    if let sequence, sequence <= 1 { return core.streamInfo(id).map { _ in } }
    return core.ask(
      JetStream.Nothing.self, id, on: id.subject("STREAM.PURGE"),
      JetStream.encode(Wish(seq: sequence))
    ).map { _ in }
  }

  /// Appends a message and returns its sequence.
  ///
  /// The message is sent once, when the first subscriber joins. Canceling does not undo it. After
  /// ``NATSError/timedOut`` and ``NATSError/disconnected``, the stream may contain the message. An
  /// `id` makes another attempt safe. While the stream has no leader, the append waits for one, and
  /// fails with ``NATSError/noResponders`` after the timeout. That message is not in the stream. A
  /// subject of another stream fails with ``NATSError/invalidSubject(_:)``, after the other stream
  /// has stored the message.
  ///
  /// - Parameters:
  ///   - payload: A value, encoded as ``NATSConnection/publish(_:on:headers:replySubject:)``
  ///     encodes it.
  ///   - subject: One of the stream's subjects, or `nil`, the default, for the stream's name.
  ///   - sequence: The sequence of the last message that you know. If the stream has a later
  ///     message, the append fails with ``NATSError/revision(_:)``. 0 requires a stream without
  ///     messages, even after a purge, and `nil` requires nothing.
  ///   - id: An identifier of the message. Within ``NATSStreamOptions/duplicateWindow``, a second
  ///     message with it is not appended, and the append returns the sequence of the first. After
  ///     that time it is appended again: read up to the end of the stream before you retry.
  ///   - headers: The headers of the message. The default is empty.
  ///   - timeout: The time after which it fails with ``NATSError/timedOut``.
  public func append<Payload: Codable & Sendable>(
    _ payload: Payload, on subject: String? = nil, expecting sequence: UInt64? = nil,
    id: String? = nil, headers: NATSHeaders = [:], timeout: Duration = .seconds(5)
  ) -> PublishedTask<UInt64, NATSError> {
    do throws(NATSError) {
      let data = try Codec.data(of: payload)
      var headers = headers
      if let id { headers["Nats-Msg-Id"] = id }
      guard let sequence else {
        return core.append(
          data, to: self.id, on: subject ?? name, headers: headers, timeout: timeout)
      }
      return append(data, on: subject ?? name, expecting: sequence, headers, timeout)
    } catch {
      return .failure(error)
    }
  }

  private func append(
    _ data: Data, on subject: String, expecting sequence: UInt64, _ headers: NATSHeaders,
    _ timeout: Duration
  ) -> PublishedTask<UInt64, NATSError> {
    var expecting = headers
    expecting["Nats-Expected-Last-Sequence"] = "\(sequence)"
    let task = core.append(data, to: id, on: subject, headers: expecting, timeout: timeout)
    if sequence > 0 { return task }
    // A purged stream has no messages, and still counts from its last sequence.
    return task.recover { error in
      guard case .revision = error else { return .failure(error) }
      return core.streamInfo(id).flatMap { stream in
        if stream.state.messages > 0 || stream.state.lastSeq == 0 { return .failure(error) }
        return append(data, on: subject, expecting: stream.state.lastSeq, headers, timeout)
      }
    }
  }
}
#endif

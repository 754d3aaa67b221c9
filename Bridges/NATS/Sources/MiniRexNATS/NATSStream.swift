public import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A stream of messages that a server keeps in one order, with JetStream.
///
/// ```swift
/// let board = nats.stream("board")
/// let appended = board.append(Event.moved, expecting: lastSequence)
/// let events = board.broadcaster(of: Event.self, from: .beginning)
/// ```
public struct NATSStream: Sendable {
  let link: Link

  /// What it is called.
  public let name: String
}

extension NATSConnection {
  /// The stream of that name, if there is one by the time it is used; see ``NATSStream/create(_:)``.
  public func stream(_ name: String) -> NATSStream {
    NATSStream(link: link, name: name)
  }
}

/// What a stream keeps, and for how long.
public struct NATSStreamOptions: Sendable {
  /// What is published on these subjects is kept; `nil` for that of the stream's name and those
  /// below.
  public var subjects: [String]?
  /// How many messages there may be, of which the oldest go; `nil` for no limit.
  public var maxMessages: Int?
  /// How many bytes there may be, of which the oldest go; `nil` for no limit of its own.
  public var maxBytes: Int?
  /// After which a message goes; `nil` for never.
  public var maxAge: Duration?
  /// If what is too much is refused, instead of the oldest going; false.
  public var refusesWhenFull = false
  /// On how many servers of a cluster it is kept: 1.
  public var replicas = 1
  /// If it is kept in memory only, and lost with the server; false.
  public var inMemory = false

  /// Makes options with their defaults.
  public init() {}
}

extension NATSStream {
  /// Makes the stream, or finds that it is there with these options already.
  ///
  /// It fails if there is one with others. Nothing is done before somebody subscribes.
  public func create(
    _ options: NATSStreamOptions = NATSStreamOptions()
  ) -> PublishedTask<Void, NATSError> {
    var config = StreamConfig(
      name, subjects: options.subjects ?? [name, "\(name).>"], maxAge: options.maxAge,
      maxBytes: options.maxBytes, inMemory: options.inMemory, replicas: options.replicas)
    config.maxMsgs = options.maxMessages ?? -1
    config.discard = options.refusesWhenFull ? "new" : "old"
    return link.create(config)
  }

  /// Removes the stream with all that is in it.
  public func remove() -> PublishedTask<Void, NATSError> {
    link.removeStream(name)
  }

  /// Removes messages, and leaves the stream: all, or those before a sequence.
  public func purge(before sequence: UInt64? = nil) -> PublishedTask<Void, NATSError> {
    struct Wish: Encodable { let seq: UInt64? }
    return link.ask(
      JetStream.Nothing.self, of: name, on: "$JS.API.STREAM.PURGE.\(name)",
      JetStream.encode(Wish(seq: sequence))
    ).map { _ in }
  }

  /// Appends a message, and gives its sequence when the stream has it.
  ///
  /// It is sent when the first subscriber comes, once for all of them; whoever leaves before the
  /// answer does not undo it. After ``NATSError/timedOut`` or ``NATSError/disconnected`` it may be in
  /// the stream or not: an `id` makes it safe to try again.
  ///
  /// - Parameters:
  ///   - payload: Encoded like what is published.
  ///   - subject: One of the stream's; `nil` for that of its name.
  ///   - sequence: That of the last message that you know; if the stream has moved on, it fails with
  ///     ``NATSError/revision(_:)``. 0 stands for a stream without messages, `nil` for any.
  ///   - id: Another message with it, within two minutes, is not appended; it gives the sequence of
  ///     the first.
  ///   - headers: What goes with it.
  ///   - timeout: After which it fails with ``NATSError/timedOut``.
  public func append<Payload: Codable & Sendable>(
    _ payload: Payload, on subject: String? = nil, expecting sequence: UInt64? = nil,
    id: String? = nil, headers: NATSHeaders = [:], timeout: Duration = .seconds(5)
  ) -> PublishedTask<UInt64, NATSError> {
    do throws(NATSError) {
      let data = try Codec.data(of: payload)
      var headers = headers
      headers["Nats-Expected-Stream"] = name
      if let sequence { headers["Nats-Expected-Last-Sequence"] = "\(sequence)" }
      if let id { headers["Nats-Msg-Id"] = id }
      return link.append(
        data, to: name, on: subject ?? name, headers: headers, timeout: timeout)
    } catch {
      return .failure(error)
    }
  }
}

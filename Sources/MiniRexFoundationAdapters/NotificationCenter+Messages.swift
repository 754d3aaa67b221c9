public import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter {
  /// Calls with each message of that type.
  ///
  /// The platform hands asynchronous messages over later, each in a task of its own and in no order
  /// that it promises; from there on they have one order for all subscribers, who are called in
  /// that task. The centre has one registration for the publisher, from its first subscriber to its
  /// last, and keeps itself alive for that time. The subject is not kept alive.
  ///
  /// - Parameters:
  ///   - subject: The subject to listen to, or `nil` for all. Once it is gone nothing comes any
  ///     more, not even what was posted before and not yet handed over.
  ///   - message: The type of the message.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster<Message: AsyncMessage>(
    of subject: Message.Subject? = nil, for message: Message.Type, fileID: String = #fileID,
    line: Int = #line
  ) -> Broadcaster<Message> where Message.Subject: AnyObject & Sendable {
    let isForAll = subject == nil
    return LazySource { [weak self, weak subject] connection in
      guard let self, isForAll || subject != nil else { return connection.refuse() }
      let sentinel = Sentinel { connection.end() }
      let token = addObserver(of: subject, for: message) { [weak subject] message in
        withExtendedLifetime(sentinel) {
          if isForAll || subject != nil { connection.broadcast(message) }
        }
      }
      return removing(token)
    }.publisher(watchedBy: .ofSource("NotificationCenter \(Message.self)", fileID, line))
  }

  /// Calls with each message of an identifier, whatever its subject.
  ///
  /// Otherwise it is like `broadcaster(of:for:)` for a type of message.
  ///
  /// - Parameters:
  ///   - subject: The type of the subjects.
  ///   - identifier: The name of the type of message.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster<Identifier: MessageIdentifier & Sendable, Message: AsyncMessage>(
    of subject: Message.Subject.Type, for identifier: Identifier, fileID: String = #fileID,
    line: Int = #line
  ) -> Broadcaster<Message> where Identifier.MessageType == Message {
    LazySource { [weak self] connection in
      guard let self else { return connection.refuse() }
      let sentinel = Sentinel { connection.end() }
      let token = addObserver(of: subject, for: identifier) { message in
        withExtendedLifetime(sentinel) { connection.broadcast(message) }
      }
      return removing(token)
    }.publisher(watchedBy: .ofSource("NotificationCenter \(Message.self)", fileID, line))
  }

  /// Calls with what `read` makes of each message of that type, on the main actor.
  ///
  /// Messages are posted on the main actor, and there they are read, once, and subscribers are
  /// called before the post returns, unless another is being delivered. The centre has one
  /// registration for the publisher, from its first subscriber to its last, and is not kept alive,
  /// nor is the subject.
  ///
  /// - Parameters:
  ///   - subject: The subject to listen to, or `nil` for all. Once it is gone, nothing comes any
  ///     more, whoever has its address then.
  ///   - message: The type of the message.
  ///   - read: Returns what there is to tell, or `nil` to skip the message.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster<Message: MainActorMessage, Update: Sendable>(
    of subject: Message.Subject? = nil, for message: Message.Type,
    _ read: @escaping @MainActor (Message) -> Update?, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Update> where Message.Subject: AnyObject & Sendable {
    let isForAll = subject == nil
    return LazySource { [weak self, weak subject] connection in
      guard let self, isForAll || subject != nil else { return connection.refuse() }
      let sentinel = Sentinel { connection.end() }
      let token = addObserver(of: subject, for: message) { [weak subject] message in
        withExtendedLifetime(sentinel) {
          guard isForAll || subject != nil, let update = read(message) else { return }
          connection.broadcast(update)
        }
      }
      return removing(token)
    }.publisher(watchedBy: .ofSource("NotificationCenter \(Message.self)", fileID, line))
  }

  /// Calls with what `read` makes of each message of an identifier, whatever its subject.
  ///
  /// Otherwise it is like the form for a type of message.
  ///
  /// - Parameters:
  ///   - subject: The type of the subjects.
  ///   - identifier: The name of the type of message.
  ///   - read: Returns what there is to tell, or `nil` to skip the message.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster<
    Identifier: MessageIdentifier & Sendable, Message: MainActorMessage, Update: Sendable
  >(
    of subject: Message.Subject.Type, for identifier: Identifier,
    _ read: @escaping @MainActor (Message) -> Update?, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Update> where Identifier.MessageType == Message {
    LazySource { [weak self] connection in
      guard let self else { return connection.refuse() }
      let sentinel = Sentinel { connection.end() }
      let token = addObserver(of: subject, for: identifier) { message in
        withExtendedLifetime(sentinel) {
          if let update = read(message) { connection.broadcast(update) }
        }
      }
      return removing(token)
    }.publisher(watchedBy: .ofSource("NotificationCenter \(Message.self)", fileID, line))
  }

  private func removing(_ token: ObservationToken) -> Subscription {
    Subscription { [weak self] in self?.removeObserver(token) }
  }
}

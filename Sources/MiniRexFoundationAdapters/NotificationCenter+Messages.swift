public import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters

@available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
extension NotificationCenter {
  /// Creates a broadcaster of the messages of a type.
  ///
  /// The platform delivers asynchronous messages later, each in a separate task and in no
  /// guaranteed order. From there on, all subscribers observe one order, and callbacks run in that
  /// task. The center has one registration from the first subscriber to the last, and retains
  /// itself for that time. The subject is not retained.
  ///
  /// - Parameters:
  ///   - subject: The subject, or `nil` for all subjects. After its deallocation no message
  ///     arrives, including earlier messages that are not yet delivered.
  ///   - message: The type of the messages.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster<Message: AsyncMessage>(
    of subject: Message.Subject? = nil, for message: Message.Type, fileID: String = #fileID,
    line: Int = #line
  ) -> Broadcaster<Message> where Message.Subject: AnyObject & Sendable {
    let isForAll = subject == nil
    return SharedAdapterSource { [weak self, weak subject] connection in
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

  /// Creates a broadcaster of the messages of an identifier, for any subject.
  ///
  /// See `broadcaster(of:for:)` for a message type.
  ///
  /// - Parameters:
  ///   - subject: The type of the subjects.
  ///   - identifier: The identifier of the message type.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster<Identifier: MessageIdentifier & Sendable, Message: AsyncMessage>(
    of subject: Message.Subject.Type, for identifier: Identifier, fileID: String = #fileID,
    line: Int = #line
  ) -> Broadcaster<Message> where Identifier.MessageType == Message {
    SharedAdapterSource { [weak self] connection in
      guard let self else { return connection.refuse() }
      let sentinel = Sentinel { connection.end() }
      let token = addObserver(of: subject, for: identifier) { message in
        withExtendedLifetime(sentinel) { connection.broadcast(message) }
      }
      return removing(token)
    }.publisher(watchedBy: .ofSource("NotificationCenter \(Message.self)", fileID, line))
  }

  /// Creates a broadcaster of the values that `read` returns for the messages of a type, on the
  /// main actor.
  ///
  /// Messages are posted on the main actor. Each is read there once, and callbacks run before the
  /// post returns, unless another message is being delivered. The center has one registration from
  /// the first subscriber to the last. Neither the center nor the subject is retained.
  ///
  /// - Parameters:
  ///   - subject: The subject, or `nil` for all subjects. After its deallocation no message
  ///     arrives, even if another object has its address.
  ///   - message: The type of the messages.
  ///   - read: A closure that returns the update, or `nil` to skip the message.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster<Message: MainActorMessage, Update: Sendable>(
    of subject: Message.Subject? = nil, for message: Message.Type,
    _ read: @escaping @MainActor (Message) -> Update?, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Update> where Message.Subject: AnyObject & Sendable {
    let isForAll = subject == nil
    return SharedAdapterSource { [weak self, weak subject] connection in
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

  /// Creates a broadcaster of the values that `read` returns for the messages of an identifier, for
  /// any subject.
  ///
  /// See the overload for a message type.
  ///
  /// - Parameters:
  ///   - subject: The type of the subjects.
  ///   - identifier: The identifier of the message type.
  ///   - read: A closure that returns the update, or `nil` to skip the message.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster<
    Identifier: MessageIdentifier & Sendable, Message: MainActorMessage, Update: Sendable
  >(
    of subject: Message.Subject.Type, for identifier: Identifier,
    _ read: @escaping @MainActor (Message) -> Update?, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Update> where Identifier.MessageType == Message {
    SharedAdapterSource { [weak self] connection in
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

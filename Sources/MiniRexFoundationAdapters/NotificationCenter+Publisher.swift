public import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters

extension NotificationCenter {
  /// Calls with what `read` makes of each notification of that name.
  ///
  /// ```swift
  /// let logins = center.broadcaster(for: .userDidLogIn) { $0.userInfo?["name"] as? String }
  /// ```
  ///
  /// A notification is read once, on the thread that posts it, since it must not be handed to
  /// another; so are its subscribers called, in the order in which they subscribed, unless another
  /// thread is delivering already. A post that a callback makes is delivered after the current one.
  ///
  /// The centre has one registration for the publisher, from its first subscriber to its last. The
  /// publisher keeps `read`, but neither the centre nor the object; its subscriptions end when the
  /// centre is released, where the platform lets the registration go with it.
  ///
  /// - Parameters:
  ///   - name: Which notifications to read.
  ///   - object: The sender to listen to, or `nil` for all. Once it is gone, nothing comes any
  ///     more, whoever has its address then. To look for a value instead, compare it in `read`.
  ///   - read: Returns what there is to tell, or `nil` to skip the notification.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster<Update: Sendable>(
    for name: Notification.Name, object: AnyObject? = nil,
    _ read: @escaping @Sendable (Notification) -> Update?, fileID: String = #fileID,
    line: Int = #line
  ) -> Broadcaster<Update> {
    let lineage = Lineage.ofSource("NotificationCenter \"\(name.rawValue)\"", fileID, line)
    guard let object else { return broadcaster(of: name, nil, read, watchedBy: lineage) }
    let sender = WeakIdentity(object)
    let readIfSame: @Sendable (Notification) -> Update? = { notification in
      guard let object = notification.object, sender.isSame(as: object as AnyObject) else {
        return nil
      }
      return read(notification)
    }
    return broadcaster(of: name, object, readIfSame, watchedBy: lineage)
  }

  /// Calls with the name whenever a notification of that name is posted.
  ///
  /// Otherwise it is like the form that reads the notification.
  ///
  /// - Parameters:
  ///   - name: Which notifications to listen for.
  ///   - object: The sender to listen to, or `nil` for all.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func broadcaster(
    for name: Notification.Name, object: AnyObject? = nil, fileID: String = #fileID,
    line: Int = #line
  ) -> Broadcaster<Notification.Name> {
    broadcaster(for: name, object: object, { $0.name }, fileID: fileID, line: line)
  }

  private func broadcaster<Update>(
    of name: Notification.Name, _ object: AnyObject?,
    _ read: @escaping @Sendable (Notification) -> Update?, watchedBy lineage: Lineage?
  ) -> Broadcaster<Update> {
    let registrar = WeakRegistrar(center: self, name: name, object: object)
    return LazySource { connection in registrar.register(connection, read) }
      .publisher(watchedBy: lineage)
  }
}

/// Registers with the centre and takes that back, each exactly once.
///
/// Unchecked, because the object need not be `Sendable`: it is held for as long as the centre asks
/// for its address, and used for nothing else.
private struct WeakRegistrar: @unchecked Sendable {
  private weak let center: NotificationCenter?
  private weak let object: AnyObject?
  private let name: Notification.Name
  private let isForAll: Bool

  init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
    self.center = center
    self.name = name
    self.object = object
    isForAll = object == nil
  }

  func register<Update>(
    _ connection: Connection<Update>, _ read: @escaping @Sendable (Notification) -> Update?
  ) -> Subscription {
    let object = object
    guard let center, isForAll || object != nil else { return connection.refuse() }
    let sentinel = Sentinel { connection.end() }
    // 'queue:' is left out, because it would make whoever posts wait. The token is only ever handed
    // back.
    nonisolated(unsafe) let token = center.addObserver(forName: name, object: object, queue: nil) {
      notification in
      withExtendedLifetime(sentinel) {
        if let update = read(notification) { connection.broadcast(update) }
      }
    }
    return Subscription { [weak center] in unsafe center?.removeObserver(token) }
  }
}

public import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters

extension NotificationCenter {
  /// Creates a broadcaster of the values that `read` returns for the notifications of a name.
  ///
  /// ```swift
  /// let logins = center.broadcaster(for: .userDidLogIn) { $0.userInfo?["name"] as? String }
  /// ```
  ///
  /// Each notification is read once, on the posting thread, because it is not `Sendable`. Callbacks
  /// run there as well, in the order in which they subscribed, unless another thread is delivering.
  /// A post inside a callback is delivered after the current notification.
  ///
  /// The center has one registration from the first subscriber to the last. The publisher retains
  /// `read`, and references the center and the object weakly. Releasing the center finishes the
  /// publisher on platforms where the center releases its registrations.
  ///
  /// - Parameters:
  ///   - name: The name of the notifications.
  ///   - object: The sender, or `nil` for all senders. After its deallocation no notification
  ///     arrives, even if another object has its address. To match a value instead, compare it in
  ///     `read`.
  ///   - read: A closure that returns the update, or `nil` to skip the notification.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
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

  /// Creates a broadcaster that emits the name for each notification of that name.
  ///
  /// See the overload that reads the notification.
  ///
  /// - Parameters:
  ///   - name: The name of the notifications.
  ///   - object: The sender, or `nil` for all senders.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
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
    return SharedAdapterSource { connection in registrar.register(connection, read) }
      .publisher(watchedBy: lineage)
  }
}

/// Registers with the center, and removes the registration, exactly once each.
///
/// The object is retained only while the center needs its address, and no method of it is called.
private struct WeakRegistrar: Sendable {
  private weak let center: NotificationCenter?
  private let reference: WeakReference<AnyObject>
  private let name: Notification.Name
  private let isForAll: Bool

  init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
    self.center = center
    self.name = name
    reference = WeakReference(object)
    isForAll = object == nil
  }

  func register<Update>(
    _ connection: Connection<Update>, _ read: @escaping @Sendable (Notification) -> Update?
  ) -> Subscription {
    let object = reference.object
    guard let center, isForAll || object != nil else { return connection.refuse() }
    let sentinel = Sentinel { connection.end() }
    // With a queue, the posting thread would wait. The observer token is only passed back to the
    // center.
    nonisolated(unsafe) let token = center.addObserver(forName: name, object: object, queue: nil) {
      notification in
      withExtendedLifetime(sentinel) {
        if let update = read(notification) { connection.broadcast(update) }
      }
    }
    return Subscription { [weak center] in unsafe center?.removeObserver(token) }
  }
}

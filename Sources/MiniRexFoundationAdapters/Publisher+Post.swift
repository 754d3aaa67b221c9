public import Foundation
public import MiniRex

extension Publisher {
  /// Posts a notification for each update, on the thread that delivers it.
  ///
  /// ```swift
  /// let posting = progress.publisher.post(to: .default, as: .progressDidChange)
  /// ```
  ///
  /// The subscription keeps neither the centre nor the object alive. It ends when the token goes,
  /// when the publisher ends, or with the first update that finds the centre or the object gone.
  ///
  /// - Parameters:
  ///   - center: Where to post.
  ///   - name: The name of the notifications.
  ///   - object: Their sender.
  ///   - userInfo: What they carry; the update under the key `update`, unless you say otherwise.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func post(
    to center: NotificationCenter, as name: Notification.Name,
    object: (any AnyObject & Sendable)? = nil,
    userInfo: @escaping @Sendable (Update) -> [AnyHashable: Any]? = { ["update": $0] },
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let isFromObject = object != nil
    let fuse = Fuse()
    let token = subscribe(as: "post", fileID, line) {
      follow { [weak center, weak object] update in
        guard let center, !isFromObject || object != nil else { return fuse.blow() }
        center.post(name: name, object: object, userInfo: userInfo(update))
      }
    }
    return fuse.attach(token)
  }
}

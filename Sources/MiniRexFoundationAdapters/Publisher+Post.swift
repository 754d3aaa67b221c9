public import Foundation
public import MiniRex

extension Publisher {
  /// Posts a notification for each update, on the delivering thread.
  ///
  /// ```swift
  /// let posting = progress.publisher.post(to: .default, as: .progressDidChange)
  /// ```
  ///
  /// The subscription does not retain the center or the object. It ends when it is canceled, when
  /// the publisher finishes, or with the first update after the center or the object is
  /// deallocated.
  ///
  /// - Parameters:
  ///   - center: The notification center.
  ///   - name: The name of the notifications.
  ///   - object: The sender of the notifications.
  ///   - userInfo: A closure that returns the user info. The default is the update under the key
  ///     `update`.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func post(
    to center: NotificationCenter, as name: Notification.Name,
    object: (any AnyObject & Sendable)? = nil,
    userInfo: @escaping @Sendable (Update) -> [AnyHashable: Any]? = { ["update": $0] },
    fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let isFromObject = object != nil
    let cancellation = EarlyCancellation()
    let token = subscribe(as: "post", fileID, line) {
      follow { [weak center, weak object] update in
        guard let center, !isFromObject || object != nil else { return cancellation.cancel() }
        center.post(name: name, object: object, userInfo: userInfo(update))
      }
    }
    return cancellation.attach(token)
  }
}

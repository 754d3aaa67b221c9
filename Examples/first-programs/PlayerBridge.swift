import Foundation
import MiniRex
import MiniRexFoundationAdapters

extension Notification.Name {
  /// Posted by the player for each track, with its `title`.
  static let trackDidChange = Notification.Name("trackDidChange")
  /// Posted when another title begins, with the titles `from` and `to`.
  static let trackDidSwitch = Notification.Name("trackDidSwitch")
  /// Sets the player's volume: `update`, from 0 to 1.
  static let volumeDidChange = Notification.Name("volumeDidChange")
}

/// Connects a player that uses notifications to views that use publishers.
struct PlayerBridge {
  /// The current title, or `nil` before the first title.
  let title: PublishedValue<String?>
  /// The volume that views set.
  let volume = PublishedProperty(0.5)

  private let switches: Subscription
  private let volumes: Subscription

  init(_ center: NotificationCenter) {
    let titles = center.broadcaster(for: .trackDidChange) { $0.userInfo?["title"] as? String }
      .removeDuplicates()
    title = titles.publishedValue()
    switches = titles.pairs().post(to: center, as: .trackDidSwitch) {
      ["from": $0.old, "to": $0.new]
    }
    volumes = volume.publisher.post(to: center, as: .volumeDidChange)
  }
}

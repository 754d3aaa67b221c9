import Foundation
import MiniRex
import MiniRexFoundationAdapters

extension Notification.Name {
  /// An old player posts it, with the `title` of what it plays.
  static let trackDidChange = Notification.Name("trackDidChange")
  /// Told when one title follows another, with what was played `from` and `to`.
  static let trackDidSwitch = Notification.Name("trackDidSwitch")
  /// Tells the old player how loud to be: `update`, from 0 to 1.
  static let volumeDidChange = Notification.Name("volumeDidChange")
}

/// Stands between a player that knows notifications and views that know publishers.
struct PlayerBridge {
  /// What is played; `nil` before the first title.
  let title: PublishedValue<String?>
  /// What views set.
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

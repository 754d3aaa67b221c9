import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

@testable import first_programs

@Suite(.light) struct PlayerBridgeTests {
  let center = NotificationCenter()

  @Test func `views receive each title once, and a notification is posted for each switch`() {
    let bridge = PlayerBridge(center)
    let titles = Recorder(bridge.title)
    let switches = Recorder(
      center.broadcaster(for: .trackDidSwitch) { $0.userInfo as? [String: String] })

    for title in ["Overture", "Overture", "Aria"] { play(title) }

    #expect(titles.updates == [nil, "Overture", "Aria"])
    #expect(switches.updates == [["from": "Overture", "to": "Aria"]])
    #expect(Recorder(bridge.title).updates == ["Aria"])
  }

  @Test func `the player receives the volume while the bridge exists`() {
    let volumes = Recorder(
      center.broadcaster(for: .volumeDidChange) { $0.userInfo?["update"] as? Double })
    var bridge: PlayerBridge? = PlayerBridge(center)

    bridge?.volume.value = 0.8
    bridge?.volume.value = 0.8
    bridge = nil
    play("Aria")

    #expect(volumes.updates == [0.5, 0.8])
  }

  private func play(_ title: String) {
    center.post(name: .trackDidChange, object: nil, userInfo: ["title": title])
  }
}

import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

extension Notification.Name {
  fileprivate static let userDidLogIn = Notification.Name("userDidLogIn")
}

@Suite struct MiniRexFoundationAdaptersSamples {
  @Test func `notifications are read where they are posted and written down on a queue`() async {
    let queue = DispatchQueue(label: "writing")
    let names = BroadcastSource<String>()
    let recorder = Recorder(names.publisher)
    let write: @Sendable (String) -> Void = { names.broadcast($0) }

    let logins = NotificationCenter.default.broadcaster(for: .userDidLogIn) {
      $0.userInfo?["name"] as? String
    }
    let subscription = logins.receive(on: queue).subscribe { write($0) }

    NotificationCenter.default.post(
      name: .userDidLogIn, object: nil, userInfo: ["name": "ada"])
    #expect(await recorder.next() == ["ada"])
    subscription.invalidate()
  }
}

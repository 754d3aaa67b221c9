import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

extension Soaks {
  @Test func `notifications with observers that join and cancel`() async throws {
    let center = NotificationCenter()
    let name = Notification.Name("posted")
    let numbers = center.broadcaster(for: name) { $0.userInfo?["number"] as? Int }
    let seen = Shared<[Int: Int]>([:])
    let constant = numbers.subscribe { number in seen.change { $0[number, default: 0] += 1 } }

    try await Soak.run(20_000, atATime: 8) { round in
      let number = round.number
      let own = Recorder(numbers)
      await onQueue { center.post(name: name, object: nil, userInfo: ["number": number]) }
      while await own.next().first != number {}
    }

    await constant.invalidateAndWait()
    #expect(seen.value.values.allSatisfy { $0 == 1 })
  }
}

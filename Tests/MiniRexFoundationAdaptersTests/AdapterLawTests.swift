import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

extension LawSubject {
  private static let number = Notification.Name("number")

  fileprivate static let adapters: [LawSubject] = [
    LawSubject("NotificationCenter") {
      let center = NotificationCenter()
      return PublisherUnderTest(
        center.broadcaster(for: number) { $0.userInfo?["number"] as? Int }
      ) {
        center.post(name: number, object: nil, userInfo: ["number": $0])
      }
    },
    .stream("receive on a queue") { $0.receive(on: DispatchQueue(label: "laws")) },
    .stream("receive on a concurrent queue") { $0.receive(on: DispatchQueue.global()) },
    .stream("receive on an operation queue") { $0.receive(on: OperationQueue()) },
    .value("a value, receive on a queue") { $0.receive(on: DispatchQueue(label: "laws")) },
    .value("a value, receive on an operation queue") { $0.receive(on: OperationQueue()) },
    .value("a value, with subscribe on a queue") {
      $0.subscribe(on: DispatchQueue(label: "laws"))
    },
    .value("a value that returns late from a subscription on a queue") { value in
      PublishedValue(of: value, by: "late", value: .untracked(value.current)) { receive in
        let subscription = value.subscribe(receive)
        usleep(5_000)
        return subscription
      }.subscribe(on: DispatchQueue(label: "laws"))
    },
    .task("a task, receive on a queue") { $0.receive(on: DispatchQueue(label: "laws")) },
    .task("a task, with subscribe on a queue") {
      $0.subscribe(on: DispatchQueue(label: "laws"))
    },
  ]
}

@Suite(.heavy, .serialized) struct AdapterLawTests {
  @Test(arguments: LawSubject.adapters)
  func `adapters obey the laws`(adapter: LawSubject) async throws {
    try await expectPublisherLaws(within: .seconds(100), of: adapter.make)
  }
}

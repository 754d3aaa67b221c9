import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

/// A real adapter in a form that passes on the numbers that it is sent.
struct Adapter: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let make: @Sendable () -> PublisherUnderTest

  init(_ name: String, _ make: @escaping @Sendable () -> PublisherUnderTest) {
    testDescription = name
    self.make = make
  }

  static func stream(
    _ name: String, _ apply: @escaping @Sendable (Broadcaster<Int>) -> Broadcaster<Int>
  ) -> Adapter {
    Adapter(name) {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(apply(source.publisher), drivenBy: source)
    }
  }

  static func value(
    _ name: String, _ apply: @escaping @Sendable (PublishedValue<Int>) -> PublishedValue<Int>
  ) -> Adapter {
    Adapter(name) {
      let property = PublishedProperty(0)
      return PublisherUnderTest(apply(property.publisher), drivenBy: property)
    }
  }

  static func task(
    _ name: String,
    _ apply: @escaping @Sendable (PublishedTask<Int, Never>) -> PublishedTask<Int, Never>
  ) -> Adapter {
    Adapter(name) {
      let source = TaskSource<Int, Never>()
      return PublisherUnderTest(apply(source.publisher), drivenBy: source)
    }
  }

  private static let number = Notification.Name("number")

  static let all: [Adapter] = [
    Adapter("NotificationCenter") {
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
    .value("a value, received on a queue") { $0.receive(on: DispatchQueue(label: "laws")) },
    .value("a value, received on an operation queue") { $0.receive(on: OperationQueue()) },
    .value("a value, subscribed to on a queue") {
      $0.subscribe(upstreamOn: DispatchQueue(label: "laws"))
    },
    .task("a task, received on a queue") { $0.receive(on: DispatchQueue(label: "laws")) },
    .task("a task, subscribed to on a queue") {
      $0.subscribe(upstreamOn: DispatchQueue(label: "laws"))
    },
  ]
}

@Suite(.serialized, .timeLimit(.minutes(20))) struct AdapterLawTests {
  @Test(arguments: Adapter.all)
  func `a real adapter keeps the laws`(adapter: Adapter) async throws {
    try await expectPublisherLaws(within: .seconds(100), of: adapter.make)
  }
}

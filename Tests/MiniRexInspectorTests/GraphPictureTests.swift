import Foundation
import MiniRex
import MiniRexFoundationAdapters
import TestSupport
import Testing

@testable import MiniRexInspector

@Suite(.light, .serialized) struct GraphPictureTests {
  let graph = LiveGraph()

  func makeInspector(_ change: (inout Settings) -> Void = { _ in }) throws -> Inspector {
    var settings = Settings()
    (settings.interval, settings.rates) = (.milliseconds(5), .milliseconds(50))
    change(&settings)
    return try Inspector(of: graph, settings)
  }

  @Test func `a subscriber whose queue takes nothing is stalled, with its place`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let queue = DispatchQueue(label: "test")
    let subscriptions = [
      numbers.publisher.receive(on: queue).subscribe { _ in },
      numbers.publisher.subscribe { _ in },
    ]
    let inspector = try makeInspector()
    let page = try WatchingPage(inspector.port)
    queue.suspend()
    for number in 0..<3 { numbers.broadcast(number) }

    await until { page.graph?.node("receive")?.state == 2 }
    let (shape, nodes) = (page.graph?.shape?.nodes ?? [], page.graph?.nodes ?? [])
    let stalled = zip(shape, nodes).filter { $1.state == 2 }.map(\.0)
    #expect(stalled.map(\.name).sorted() == ["receive", "subscribe"])
    let place = stalled.first { $0.name == "subscribe" }?.place
    #expect(place?.contains("GraphPictureTests.swift:") == true)
    queue.resume()
    await until { page.graph?.nodes.allSatisfy { $0.state == 0 } == true }
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `a resource shows its loads, its failures, and its age`() async throws {
    let backend = Backend()
    let resource = Resource<Int, any Error>(
      retries: 1, retryDelay: .constant(.zero), name: "keys", instrument: graph
    ) { try await backend.load() }
    let inspector = try makeInspector()
    let page = try WatchingPage(inspector.port)
    let subscription = resource.publisher.subscribe { _ in }
    backend.fail(1)
    backend.answer(2, 1)
    await until { resource.state.value == 1 }

    await until { page.graph?.node("keys")?.age != nil }
    #expect(page.graph?.node("keys")?.loads == 2)
    #expect(page.graph?.node("keys")?.failures == 1)
    withExtendedLifetime((inspector, subscription)) {}
  }

  @Test func `a callback that does not return is stalled`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let mayReturn = DispatchSemaphore(value: 0)
    let subscriptions = [
      numbers.publisher.subscribe { _ in },
      numbers.publisher.map { $0 }.subscribe { _ in mayReturn.waitAtMost() },
    ]
    let inspector = try makeInspector()
    let page = try WatchingPage(inspector.port)
    onNewThread { numbers.broadcast(1) }

    await until { page.graph?.nodes.contains { $0.state == 2 } == true }
    let (shape, nodes) = (page.graph?.shape?.nodes ?? [], page.graph?.nodes ?? [])
    #expect(zip(shape, nodes).filter { $1.state == 2 }.map(\.0.name) == ["map", "subscribe"])
    mayReturn.signal()
    await until { page.graph?.nodes.allSatisfy { $0.state == 0 } == true }
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `a subscriber whose queue grows is slow`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let queue = DispatchQueue(label: "test")
    let isSlow = Shared(true)
    let subscription = numbers.publisher.receive(on: queue).subscribe { _ in
      if isSlow.value { Thread.sleep(forTimeInterval: 0.01) }
    }
    let inspector = try makeInspector()
    let page = try WatchingPage(inspector.port)

    await until {
      for number in 0..<10 { numbers.broadcast(number) }
      return page.graph?.node("receive")?.state == 1
    }
    isSlow.change { $0 = false }
    await until { page.graph?.nodes.allSatisfy { $0.state == 0 } == true }
    withExtendedLifetime(subscription) {}
  }

  @Test func `many equal subscriptions are one node`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    var subscriptions = (0..<5).map { _ in numbers.publisher.subscribe { _ in } }
    subscriptions.append(numbers.publisher.subscribe { _ in })
    let inspector = try makeInspector { $0.crowd = 4 }
    let page = try WatchingPage(inspector.port)
    numbers.broadcast(1)

    await until { page.graph?.edges.map(\.count).reduce(0) { $0 + ($1 ?? 0) } == 6 }
    #expect(page.graph?.shape?.nodes.map(\.count) == [1, 5, 1])
    #expect(page.graph?.shape?.edges == [[0, 1], [0, 2]])
    #expect(page.graph?.edges.map(\.count) == [5, 1])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `a graph with too many nodes is text`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let subscription = numbers.publisher.map { $0 }.subscribe { _ in }
    let inspector = try makeInspector { $0.nodes = 2 }
    let page = try WatchingPage(inspector.port)

    await until { page.graph?.tree.contains("map") == true }
    #expect(page.graph?.isDrawn == false && page.graph?.shape == nil)
    withExtendedLifetime(subscription) {}
  }
}

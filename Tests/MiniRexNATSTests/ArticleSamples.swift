#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore

// The samples of the articles and doc comments, compiled and not run.

private struct Order: Codable, Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

private struct Quote: Codable, Sendable {}

private struct QuoteRequest: Codable, Sendable {
  let name: String
  init(_ name: String) { self.name = name }
}

private enum Theme: String, Codable, Sendable { case light, dark }

private enum Event: Codable, Sendable { case moved }

private struct Job: Codable, Sendable {}

private func quote(_ request: QuoteRequest) async throws -> Quote { Quote() }

private func run(_ job: Job) {}

private func sampleOfMessages(_ order: Order) throws {
  let nats = NATSConnection("nats://127.0.0.1:4222")
  let subscription = nats.broadcaster(of: Order.self, on: "orders.*").subscribe { message in
    print(message.subject, message.payload)
  }
  try nats.publish(Order(4711), on: "orders.placed")

  let orders = nats.broadcaster(of: Order.self, on: "orders.*", queue: "billing")
  try nats.publish(order, on: "orders.placed", headers: ["Trace": "4711"])
  withExtendedLifetime((subscription, orders)) {}
}

private func sampleOfRequests(_ nats: NATSConnection) {
  let quote = nats.request(Quote.self, QuoteRequest("ACME"), on: "quotes", timeout: .seconds(2))
  withExtendedLifetime(quote) {}
}

private func sampleOfReplies(_ nats: NATSConnection) {
  let service = nats.reply(on: "quotes", queue: "quotes") { (request: QuoteRequest) in
    PublishedTask { try await quote(request) }
  }
  withExtendedLifetime(service) {}
}

private func sampleOfServices(_ nats: NATSConnection) {
  let calculator = nats.service("calc", version: "1.2.3") {
    $0.endpoint("add", on: "calc.add") { (numbers: [Int]) in
      PublishedTask<Int, Never> { numbers.reduce(0, +) }
    }
  }
  withExtendedLifetime(calculator) {}
}

private func sampleOfTraces(_ nats: NATSConnection, _ order: Order) throws {
  try TraceContext.$current.withValue(.root()) { try nats.publish(order, on: "orders.placed") }
}

private func sampleOfExpirations(_ locks: NATSBucket, _ process: Int) {
  let lease = locks.put(
    process, for: "leader", expiringAfter: .seconds(10), replacing: NATSRevision.none)
  withExtendedLifetime(lease) {}
}

private func sampleOfPipelines(
  _ nats: NATSConnection, _ readings: BroadcastSource<Double>, _ reading: Double
) async throws {
  let appending = readings.publisher.append(to: nats.stream("readings"))
  try await readings.send(reading)  // suspends while 4,096 readings are in flight
  withExtendedLifetime(appending) {}
}

private func sampleOfStreams(_ nats: NATSConnection, lastSequence: UInt64) {
  let board = nats.stream("board")
  let appended = board.append(Event.moved, expecting: lastSequence)
  let events = board.broadcaster(of: Event.self, from: .beginning)

  let jobs = board.work(of: Job.self, durable: "billing").subscribe { delivery in
    run(delivery.payload)
    delivery.ack()
  }
  withExtendedLifetime((appended, events, jobs)) {}
}

private func sampleOfBuckets(_ nats: NATSConnection, _ bucket: NATSBucket) async throws {
  let config = nats.bucket("config")
  let theme = config.publishedValue(of: Theme.self, for: "theme")
  let written = config.put(Theme.dark, for: "theme")

  let prices = bucket.publishedEntries(of: Double.self, matching: "prices.*")
  withExtendedLifetime((theme, written, prices)) {}

  let near = nats.bucket("config-here", mirroring: NATSMirror(of: "config", domain: "hub"))
  try await near.create().value
}

private func sampleOfRevisions(
  _ config: NATSBucket, _ entry: PublishedValue<NATSBucketEntry<Theme>>
) async throws {
  if let revision = entry.current()?.revision {
    _ = try await config.put(Theme.dark, for: "theme", replacing: revision).value
  }
}

private struct Reading {
  let bytes: Data
  init(serializedBytes: Data) throws { bytes = serializedBytes }
  func serializedBytes() throws -> Data { bytes }
}

extension Reading: NATSPayload {
  init(natsPayload: Data) throws { try self.init(serializedBytes: natsPayload) }
  func natsPayload() throws -> Data { try serializedBytes() }
}

private enum Column: Codable { case toDo, done }

private struct Board: Codable, Sendable { var cards: [Int] = [] }

private enum BoardAction: Codable, Sendable { case moved(Int, to: Column) }

private func sampleOfReplicas(
  _ nats: NATSConnection, _ card: Int, _ folder: String,
  reduce: @escaping @Sendable (inout Board, BoardAction) -> Effect<BoardAction>,
  show: @escaping @Sendable ([Int]) -> Void
) async throws {
  let log = nats.log("board")
  try await log.create(replicas: 3).value
  let replica = try Replica(Board(), of: log, keptIn: folder, reducer: reduce)
  let subscription = replica.store.publisher(of: \.cards).subscribe { show($0) }
  replica.send(.moved(card, to: .done))
  withExtendedLifetime(subscription) {}
}
#endif

#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// An independent NATS client: nats-py.
@Suite(.heavy)
struct PeerTests {
  private struct ConsumerState: Codable, Sendable, Equatable {
    var sensor: Int
    var celsius: Double
  }

  private struct Report: Codable, Sendable, Equatable {
    var task: String
    var progressive: String
    var refusal: String
    var value: String
    var stream: [Int]
  }

  @Test(.enabled(if: Peer.isThere, "python3 has no module 'nats': pip install nats-py"))
  func `another client reads and writes the data of every kind`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let (bucket, stream) = (nats.bucket("config"), nats.stream("board"))
    #expect(await bucket.create().hasSucceeded())
    #expect(await stream.create().hasSucceeded())
    #expect(await bucket.put("dark", for: "theme").hasSucceeded())
    for number in 1...3 { #expect(await stream.append(number).hasSucceeded()) }
    let bag = SubscriptionBag()
    nats.reply(on: "swift.double") { (number: Int) in
      PublishedTask<Int, Never>.success(number * 2)
    }.store(in: bag)
    nats.reply(on: "swift.refusing") { (_: Int) in
      PublishedTask<Int, NATSError>.failure(.refused(code: 404, message: "not here"))
    }.store(in: bag)
    nats.reply(on: "swift.steps", progress: Int.self) { (steps: Int) in
      ProgressiveTask<Int, String, Never> { report, finish in
        for step in 1...steps { report(step) }
        finish(.success("steps: \(steps)"))
        return .ended
      }
    }.store(in: bag)
    let reports = Recorder(nats.broadcaster(of: Report.self, on: "report"))
    let readings = Recorder(nats.broadcaster(of: ConsumerState.self, on: "to.swift"))
    let theme = Recorder(bucket.publishedValue(of: String.self, for: "theme"))
    let count = Recorder(bucket.publishedValue(of: Int.self, for: "count"))
    let numbers = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    try await nats.areSubscribed()

    let peer = try Peer("peer.py", server.url)

    let report = try #require(await reports.next().first)
    #expect(
      report.payload
        == Report(
          task: "42", progressive: "steps: 3", refusal: "404not here", value: "dark",
          stream: [1, 2, 3]))
    try nats.publish(
      ConsumerState(sensor: 7, celsius: 21.5), on: "to.python", headers: ["Trace": "4711"])
    let reading = try #require(await readings.next().first)
    #expect(reading.payload == ConsumerState(sensor: 7, celsius: 22.5))
    #expect(reading.headers["Trace"] == "4711 and back")
    #expect(
      await nats.request(Int.self, 21, on: "python.double", timeout: .seconds(60)).result
        == .success(42))
    await until { theme.updates.last == "light" && count.updates.last == 7 }
    let appended = await numbers.next(4)
    #expect(appended.map(\.payload) == [1, 2, 3, 4])
    #expect(appended.last?.headers["From"] == "python")
    try nats.publish("", on: "python.end")
    #expect(await peer.status() == 0)
    withExtendedLifetime(bag) {}
    await nats.close()
  }
}
#endif

#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct ServiceTests {
  private struct Discovered: Decodable {
    struct Endpoint: Decodable {
      let name: String
      let subject: String
      let queueGroup: String
      let metadata: [String: String]?
      let numRequests: Int?
      let numErrors: Int?
      let lastError: String?
      let processingTime: Int?
      let averageProcessingTime: Int?
    }

    let type: String
    let name: String
    let id: String
    let version: String
    let metadata: [String: String]
    let description: String?
    let started: String?
    let endpoints: [Endpoint]?
  }

  private struct Division: Error, CustomStringConvertible {
    let description = "The divisor is zero."
  }

  private func decode(_ data: Data) throws -> Discovered {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Discovered.self, from: data)
  }

  private func ask(_ nats: NATSConnection, _ subject: String) async throws -> Discovered {
    let answer = nats.request(String.self, "", on: subject, timeout: .seconds(600))
    let text = try #require(await answer.result).get()
    return try decode(Data(text.utf8))
  }

  private func start(_ nats: NATSConnection) -> Subscription {
    nats.service(
      "calc", version: "1.2.3", description: "Arithmetic", metadata: ["someKey": "1"]
    ) {
      $0.endpoint("add", on: "calc.add", metadata: ["unitOf": "ms"]) { (numbers: [Int]) in
        PublishedTask<Int, Never>.success(numbers.reduce(0, +))
      }
      $0.endpoint("divide") { (numbers: [Int]) in
        numbers[1] == 0
          ? PublishedTask<Int, Division>.failure(Division())
          : .success(numbers[0] / numbers[1])
      }
    }
  }

  @Test func `N12 any NATS tool discovers a service`() async throws {
    let server = try await NATSServer()
    let (nats, tool) = (NATSConnection(server.url), NATSConnection(server.url))
    let service = start(nats)
    try await nats.areSubscribed()

    let ping = try await ask(tool, "$SRV.PING")
    #expect(ping.type == "io.nats.micro.v1.ping_response")
    #expect(ping.name == "calc" && ping.version == "1.2.3" && !ping.id.isEmpty)
    #expect(ping.metadata == ["someKey": "1"] && ping.endpoints == nil)
    for subject in ["$SRV.PING.calc", "$SRV.PING.calc.\(ping.id)"] {
      #expect(try await ask(tool, subject).id == ping.id)
    }

    let info = try await ask(tool, "$SRV.INFO.calc")
    #expect(info.type == "io.nats.micro.v1.info_response" && info.description == "Arithmetic")
    #expect(info.endpoints?.map(\.name) == ["add", "divide"])
    #expect(info.endpoints?.map(\.subject) == ["calc.add", "divide"])
    #expect(info.endpoints?.map(\.queueGroup) == ["q", "q"])
    #expect(info.endpoints?.first?.metadata == ["unitOf": "ms"])

    let sum = tool.request(Int.self, [1, 2], on: "calc.add", timeout: .seconds(600))
    #expect(await sum.result == .success(3))
    let failure = tool.request(Int.self, [1, 0], on: "divide", timeout: .seconds(600))
    #expect(
      await failure.result == .failure(.refused(code: 500, message: "The divisor is zero.")))
    let undecodable = tool.request(Int.self, "x", on: "divide", timeout: .seconds(600))
    guard case .failure(.refused(400, _))? = await undecodable.result else {
      Issue.record("an undecodable request was answered")
      return
    }

    let stats = try await ask(tool, "$SRV.STATS.calc.\(ping.id)")
    #expect(stats.type == "io.nats.micro.v1.stats_response" && stats.started != nil)
    #expect(stats.endpoints?.map(\.numRequests) == [1, 2])
    #expect(stats.endpoints?.map(\.numErrors) == [0, 2])
    #expect(stats.endpoints?.first?.lastError == "")
    let adding = try #require(stats.endpoints?.first)
    #expect(try #require(adding.processingTime) > 0)
    #expect(adding.averageProcessingTime == adding.processingTime)
    withExtendedLifetime(service) {}
    await nats.close()
    await tool.close()
  }

  @Test func `N12 two processes of a service share the requests and are discovered separately`()
    async throws
  {
    let server = try await NATSServer()
    let (one, two) = (NATSConnection(server.url), NATSConnection(server.url))
    let tool = NATSConnection(server.url)
    let services = [start(one), start(two)]
    try await one.areSubscribed()
    try await two.areSubscribed()
    let answers = Recorder(tool.broadcaster(of: Data.self, on: "answers"))
    try await tool.areSubscribed()

    try tool.publish("", on: "$SRV.PING", replySubject: "answers")
    let all = try await answers.next(2).map {
      try decode($0.payload)
    }
    #expect(Set(all.map(\.id)).count == 2)
    for number in 1...50 {
      let sum = tool.request(Int.self, [number, 1], on: "calc.add", timeout: .seconds(600))
      #expect(await sum.result == .success(number + 1))
    }
    var total = 0
    for answer in all {
      total += try await ask(tool, "$SRV.STATS.calc.\(answer.id)").endpoints?[0].numRequests ?? 0
    }
    #expect(total == 50)

    // A canceled service answers no longer.
    services[0].invalidate()
    try await one.areSubscribed()
    for _ in 1...20 {
      let ping = try await ask(tool, "$SRV.PING.calc")
      #expect(all.contains { $0.id == ping.id })
      let sum = tool.request(Int.self, [1, 1], on: "calc.add", timeout: .seconds(600))
      #expect(await sum.result == .success(2))
    }
    let last = try await ask(tool, "$SRV.STATS.calc").endpoints?[0].numRequests ?? 0
    #expect(last >= 20)
    withExtendedLifetime(services) {}
    for connection in [one, two, tool] { await connection.close() }
  }

  @Test func `N12 invalid names and versions trap with advice`() async throws {
    await #expect(processExitsWith: .failure) {
      _ = NATSConnection("nats://127.0.0.1:1").service("a b", version: "1.0.0") { _ in }
    }
    await #expect(processExitsWith: .failure) {
      _ = NATSConnection("nats://127.0.0.1:1").service("a", version: "1.0") { _ in }
    }
  }
}
#endif

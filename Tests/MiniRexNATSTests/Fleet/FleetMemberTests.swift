#if NATS
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct FleetMemberTests {
  @Test func `M1 a process appears within 2 s and counts as lost after 6 s`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let page = try FleetPage(of: "production", over: nats)
    let browser = try FleetBrowser(page)
    await until { browser.answers }

    let began = ContinuousClock.now
    let guest = try Guest("member", server.url, "production", "billing", "1.4.2")
    await until { browser.row("billing") != nil }
    print("A process appears after \(ContinuousClock.now - began), with its start.")
    let row = try #require(browser.row("billing"))
    #expect(row.concern == 0 && row.report.version == "1.4.2")

    guest.kill()
    let killed = ContinuousClock.now
    await until { browser.row("billing")?.concern == 5 }
    print("A killed process is lost after \(ContinuousClock.now - killed).")
    #expect(try #require(browser.row("billing")).silence >= 6_000)

    let next = try Guest("member", server.url, "production", "billing", "1.4.2")
    await until { browser.row("billing")?.restarts == 1 }
    #expect(browser.rows.count == 1 && browser.row("billing")?.concern == 0)
    withExtendedLifetime(next) {}
    await nats.close()
  }

  @Test func `M1 a member is a service, and leaves the fleet when it is released`() async throws {
    let server = try await NATSServer()
    let (nats, tool) = (NATSConnection(server.url), NATSConnection(server.url))
    let browser = try FleetBrowser(of: "production", over: tool)
    var member: FleetMember? = FleetMember(
      of: "production", over: nats, name: "billing", version: "1.4.2")
    let id = try #require(member?.id)
    await until { browser.rows.map(\.id) == [id] }

    let info = tool.request(
      String.self, "", on: "$SRV.INFO.minirex.\(id)", timeout: .seconds(600))
    let text = try #require(await info.result).get()
    #expect(text.contains(#""name":"minirex""#) && text.contains(#""fleet":"production""#))
    // No stream and no bucket exist, and the server has no JetStream.
    member = nil
    await until { browser.rows.isEmpty }
    let after = tool.request(
      String.self, "", on: "$SRV.PING.minirex.\(id)", timeout: .seconds(600))
    #expect(await after.result == .failure(.noResponders))
    await nats.close()
    await tool.close()
  }

  @Test func `M1 a fleet does not show the processes of another fleet`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let browser = try FleetBrowser(of: "production", over: nats)
    let members = ["staging", "production"].map {
      FleetMember(of: $0, over: nats, name: "in-\($0)", version: "1.0.0")
    }
    // The messages of one connection arrive in order.
    await until { browser.row("in-production") != nil }

    #expect(browser.row("in-staging") == nil)
    withExtendedLifetime(members) {}
    await nats.close()
  }

  @Test func `M3 the page reports the server as it is`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let member = FleetMember(of: "production", over: nats, name: "billing", version: "1.4.2")
    let browser = try FleetBrowser(of: "production", over: nats)
    await until { browser.answers && browser.row("billing")?.concern == 0 }

    server.send(SIGSTOP)
    let stopped = ContinuousClock.now
    await until { !browser.answers }
    print("A stopped server shows after \(ContinuousClock.now - stopped).")
    // Longer than the time after which a process is lost: nothing is known about it.
    let count = browser.eventCount
    await until { browser.eventCount > count + 4 }
    server.send(SIGCONT)
    await until { browser.answers }
    await until { browser.row("billing").map { $0.silence < 2_000 } ?? false }

    await server.stop()
    await until { !browser.answers }
    try await server.start()
    await until { browser.answers }
    await until { browser.row("billing").map { $0.silence < 2_000 } ?? false }
    #expect(!browser.concerns(of: member.id).contains(5))
    await nats.close()
  }

  @Test func `M3 a subscriber of all subjects does not hide the server`() async throws {
    let server = try await NATSServer()
    let (nats, monitor) = (NATSConnection(server.url), NATSConnection(server.url))
    let all = Recorder(monitor.broadcaster(of: Data.self, on: ">"))
    try await monitor.areSubscribed()
    let browser = try FleetBrowser(of: "production", over: nats)

    await until { browser.answers }
    withExtendedLifetime(all) {}
    await nats.close()
    await monitor.close()
  }

  @Test func `M1 invalid names and versions trap with advice`() async throws {
    await #expect(processExitsWith: .failure) {
      let nats = NATSConnection("nats://127.0.0.1:1")
      _ = FleetMember(of: "a.b", over: nats, name: "billing", version: "1.0.0")
    }
    await #expect(processExitsWith: .failure) {
      let nats = NATSConnection("nats://127.0.0.1:1")
      _ = FleetMember(of: "a", over: nats, name: "billing", version: "1")
    }
    await #expect(processExitsWith: .failure) {
      _ = try FleetPage(of: "a>", over: NATSConnection("nats://127.0.0.1:1"))
    }
  }
}
#endif

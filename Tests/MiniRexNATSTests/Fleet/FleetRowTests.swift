#if NATS
import Foundation
import MiniRex
import MiniRexDispatchAdapters
import MiniRexFleet
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct FleetRowTests {
  @Test func `M2 a row answers an operator's first questions`() async throws {
    let server = try await NATSServer()
    let (nats, viewer) = (NATSConnection(server.url), NATSConnection(server.url))
    let browser = try FleetBrowser(of: "production", over: viewer)
    let graph = LiveGraph()
    let orders = BroadcastSource<Int>(name: "orders", instrument: graph)
    let mayGo = DispatchSemaphore(value: 0)
    let slow = orders.publisher.receive(
      on: DispatchQueue(label: "slow"), buffering: .bufferingNewest(3)
    ).subscribe { _ in mayGo.waitAtMost() }
    let isOpen = PublishedProperty(false)
    let member = FleetMember(
      of: "production", over: nats, name: "billing", version: "1.4.2", inspecting: graph)
    member.ready(when: nats.isReady, name: "nats")
    member.ready(when: isOpen.publisher, name: "database")

    await until { browser.row("billing")?.concern == 3 }
    let row = try #require(browser.row("billing")?.report)
    #expect(row.version == "1.4.2" && !row.host.isEmpty && row.process == getpid())
    #expect(row.unready == ["database"] && row.memory > 1 << 20)
    #expect(abs(Date().timeIntervalSince1970 * 1_000 - Double(row.started)) < 600_000)
    #expect(row.trouble == nil && row.isInspected)
    await until { browser.row("billing").map { $0.report.processor > 0 } ?? false }

    isOpen.value = true
    await until { browser.row("billing")?.concern == 0 }
    for number in 1...100 { orders.broadcast(number) }
    await until { browser.row("billing")?.concern == 2 }
    let subscription = try #require(
      browser.row("billing")?.report.subscriptions.first { $0.name == "orders" })
    #expect(subscription.backlog > 0 && subscription.drops > 90)
    #expect(subscription.place?.contains("FleetRowTests.swift") == true)

    #expect(throws: NATSError.self) { try nats.publish(1, on: "a b") }
    _ = nats.broadcaster(of: Int.self, on: "a b").subscribe { _ in }
    await until { browser.row("billing")?.report.trouble?.text.contains("a b") ?? false }
    for _ in 1...200 { mayGo.signal() }
    withExtendedLifetime((member, slow)) {}
    await nats.close()
    await viewer.close()
  }

  @Test func `M2 rows sort by severity, and differing versions stand out`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let browser = try FleetBrowser(of: "production", over: nats)
    let members = ["1.4.2", "1.4.1", "1.4.2"].map {
      FleetMember(of: "production", over: nats, name: "billing", version: $0)
    }
    let other = FleetMember(of: "production", over: nats, name: "mail", version: "1.4.1")

    await until {
      browser.rows.count == 4 && browser.rows.count { $0.concern == 1 } == 1
    }
    let row = try #require(browser.rows.first { $0.concern == 1 })
    #expect(row.id == members[1].id && row.isOtherVersion == true)
    withExtendedLifetime((members, other)) {}
    await nats.close()
  }
}
#endif

#if NATS
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexNATSStore
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexNATS

/// Messages of a server that is not NATS, to every kind of subscriber.
@Suite(.heavy)
struct HostileServerTests {
  /// `MINIREX_SCALE=10` makes it a million messages.
  @Test(arguments: 0..<4)
  func `N9 no message of a server stops the process, or the connection`(seed: UInt64) async throws {
    let server = try HostileServer(seed: seed)
    var options = NATSOptions()
    options.propagation = .w3c
    options.inboxPrefix = "_TEST"
    let nats = NATSConnection(server.address.url, options: options)
    let bag = SubscriptionBag()
    let taken = Shared(0)
    func follow<Update>(_ broadcaster: Broadcaster<Update>) {
      broadcaster.subscribe { _ in taken.increment() }.store(in: bag)
    }
    let (stream, bucket, log) = (nats.stream("board"), nats.bucket("board"), nats.log("board"))
    follow(nats.broadcaster(of: Int.self, on: "numbers"))
    follow(stream.broadcaster(of: Int.self, from: .beginning).map { $0.sequence })
    follow(stream.work(of: Int.self, durable: "jobs"))
    follow(log.entries(after: 2))
    follow(log.digests())
    bucket.publishedValue(of: Int.self, for: "key").subscribe { _ in taken.increment() }
      .store(in: bag)
    let service = nats.reply(on: "service") { (number: Int) in
      PublishedTask<Int, NATSError>.success(number)
    }
    let page = try FleetPage(of: "fleet", over: nats)
    let status = Recorder(nats.status)
    await nats.isEventually(.connected)
    let before = peakMemory() ?? 0

    let wanted = scaled(25_000)
    while server.count < wanted, !Task.isCancelled {
      let timeout = Duration.milliseconds(200)
      let asking = SubscriptionBag()
      nats.request(Int.self, 1, on: "a", timeout: timeout).subscribe { _ in }.store(in: asking)
      nats.request(Int.self, progress: Int.self, 1, on: "a", timeout: timeout)
        .subscribe { _ in }.store(in: asking)
      stream.append(1).subscribe { _ in }.store(in: asking)
      bucket.put(1, for: "key", replacing: NATSRevision(1)).subscribe { _ in }.store(in: asking)
      bucket.keys().subscribe { _ in }.store(in: asking)
      log.snapshot(through: .max).subscribe { _ in }.store(in: asking)
      for _ in 0..<300 { server.flood() }
      // A connection that is behind would drop the rest.
      try await Task.sleep(for: .milliseconds(1))
    }

    server.recant()
    let honest = Recorder(nats.broadcaster(of: String.self, on: "honest"))
    await until {
      server.send("honest", on: "honest")
      return honest.updates.contains { $0.payload == "honest" }
    }
    #expect(taken.value > wanted / 100, "\(taken.value) of \(server.count)")
    #expect(status.updates.filter { $0 != .connecting } == [.connected])
    #expect((peakMemory() ?? 0) - before < 500 << 20)
    withExtendedLifetime((bag, service, page)) {}
    await nats.close()
  }
}
#endif

#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Streams and buckets in another domain, and mirrors of them.
@Suite(.heavy)
struct DomainTests {
  private let hub: NATSServer
  private let leaf: NATSServer

  init() async throws {
    let address = try Address()
    hub = try await .keeping(
      "server_name: hub\nleafnodes { listen: \"\(address.host):\(address.port)\" }",
      limits: "domain: hub")
    leaf = try await .keeping(
      "server_name: leaf\nleafnodes { remotes: [ { url: \"\(address.url)\" } ] }",
      limits: "domain: leaf")
  }

  @Test func `N8 a client of a leaf node uses the streams and buckets of a domain`() async throws {
    var options = NATSOptions()
    options.jetStreamDomain = "hub"
    let (near, far) = (NATSConnection(leaf.url, options: options), NATSConnection(hub.url))
    let (bucket, stream) = (near.bucket("config"), near.stream("board"))
    // The leaf node may not be connected yet.
    #expect(await holds(await stream.create().hasSucceeded()))
    #expect(await bucket.create().hasSucceeded())

    #expect(await holds(await stream.append(1).hasSucceeded()))
    #expect(await bucket.put(1, for: "count").hasSucceeded())
    let reader = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    let worker = Recorder(stream.work(of: Int.self, durable: "billing")) { $0.ack() }
    let values = Recorder(bucket.publishedValue(of: Int.self, for: "count"))
    let farValues = Recorder(far.bucket("config").publishedEntries(of: Int.self))

    #expect(await reader.next().map(\.payload) == [1])
    #expect(await worker.next().map(\.payload) == [1])
    #expect(await holds(values.updates.last == 1 && farValues.updates.last == ["count": 1]))
    #expect(await far.bucket("config").put(2, for: "count").hasSucceeded())
    #expect(await holds(values.updates.last == 2))
    #expect(await bucket.put(3, for: "count", replacing: NATSRevision(2)).hasSucceeded())
    #expect(await holds(farValues.updates.last == ["count": 3]))
    await near.close()
    await far.close()
  }

  @Test func `N7 a mirror of a bucket is read while its origin is unreachable`() async throws {
    let (near, far) = (NATSConnection(leaf.url), NATSConnection(hub.url))
    let origin = far.bucket("config")
    #expect(await origin.create().hasSucceeded())
    #expect(await origin.put(1, for: "count").hasSucceeded())
    let mirror = near.bucket("near", mirroring: NATSMirror(of: "config", domain: "hub"))
    #expect(await mirror.create().hasSucceeded())
    #expect(await mirror.create().hasSucceeded())
    let values = Recorder(mirror.publishedValue(of: Int.self, for: "count"))
    #expect(await holds(values.updates.last == 1))

    #expect(await holds(await mirror.put(2, for: "count").hasSucceeded()))
    #expect(await holds(values.updates.last == 2))
    let far2 = Recorder(origin.publishedValue(of: Int.self, for: "count"))
    #expect(await holds(far2.updates.last == 2))
    await hub.stop()

    let entries = Recorder(mirror.publishedEntries(of: Int.self))
    #expect(await holds(entries.updates.last == ["count": 2]))
    await near.close()
    await far.close()
  }
}
#endif

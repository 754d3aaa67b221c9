#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct BucketReadingTests {
  @Test func `N13 keys and the history of a key can be read`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.keys().result == .failure(.noStream("KV_config")))
    var options = NATSBucketOptions()
    options.history = 5
    #expect(await bucket.create(options).hasSucceeded())
    #expect(await bucket.keys().result == .success([]))

    for number in 1...3 { #expect(await bucket.put(number, for: "a.count").hasSucceeded()) }
    #expect(await bucket.put("dark", for: "b.theme").hasSucceeded())
    #expect(await bucket.put("x", for: "a.other").hasSucceeded())
    #expect(await bucket.delete("a.other").hasSucceeded())

    #expect(await bucket.keys().result == .success(["a.count", "b.theme"]))
    #expect(await bucket.keys(matching: "a.*").result == .success(["a.count"]))
    #expect(
      await bucket.history(of: Int.self, for: "a.count").result
        == .success((1...3).map { .present($0, NATSRevision(UInt64($0))) }))
    #expect(
      await bucket.history(of: String.self, for: "a.other").result
        == .success([.present("x", NATSRevision(5)), .absent(NATSRevision(6))]))
    #expect(await bucket.history(of: Int.self, for: "nothing").result == .success([]))
    guard case .failure(.undecodable)? = await bucket.history(of: Int.self, for: "b.theme").result
    else {
      Issue.record("a theme was decoded as a number")
      return
    }
    #expect(
      await bucket.history(of: Int.self, for: "a b").result == .failure(.invalidSubject("a b")))
    await nats.close()
  }

  @Test func `N13 a purge removes a key with its history`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    var options = NATSBucketOptions()
    options.history = 5
    #expect(await bucket.create(options).hasSucceeded())
    for number in 1...3 { #expect(await bucket.put(number, for: "count").hasSucceeded()) }
    let count = Recorder(bucket.publishedValue(of: Int.self, for: "count"))
    #expect(await count.next(2) == [nil, 3])

    #expect(
      await bucket.purge("count", replacing: NATSRevision(2)).result == .failure(.revision(3)))
    #expect(await bucket.purge("count").result == .success(NATSRevision(4)))

    #expect(await count.next() == [nil])
    #expect(
      await bucket.history(of: Int.self, for: "count").result
        == .success([.absent(NATSRevision(4))]))
    #expect(await bucket.keys().result == .success([]))
    await nats.close()
  }

  @Test func `N13 the keys of a large bucket are complete`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    let written = (1...2_000).map { Recorder(bucket.put($0, for: "key.\($0)")) }
    for recorder in written { #expect(await recorder.next().count == 1) }

    let keys = await bucket.keys().result

    #expect(keys == .success((1...2_000).map { "key.\($0)" }.sorted()))
    await nats.close()
  }

  @Test func `N13 a bucket's watchers converge on its content`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("prices")
    #expect(await bucket.create().hasSucceeded())
    #expect(await bucket.put(1, for: "a.x").hasSucceeded())
    #expect(await bucket.put(2, for: "b.x").hasSucceeded())
    let all = Recorder(bucket.publishedEntries(of: Int.self))
    let some = Recorder(bucket.publishedEntries(of: Int.self, matching: "a.*"))
    #expect(await all.next(2) == [[:], ["a.x": 1, "b.x": 2]])
    #expect(await some.next(2) == [[:], ["a.x": 1]])

    #expect(await bucket.put(3, for: "a.y").hasSucceeded())
    #expect(await bucket.delete("a.x").hasSucceeded())
    #expect(await bucket.purge("b.x").hasSucceeded())

    #expect(await all.next(3).last == ["a.y": 3])
    #expect(await some.next(2) == [["a.x": 1, "a.y": 3], ["a.y": 3]])
    await server.stop()
    try await server.start()
    await until(await bucket.put(4, for: "a.z").result == .success(NATSRevision(6)))
    await until { all.updates.last == ["a.y": 3, "a.z": 4] }
    await nats.close()
  }

  @Test func `N13 a watcher emits the absence of a value that reached the bucket's age`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("prices")
    var options = NATSBucketOptions()
    options.maxAge = .seconds(2)
    #expect(await bucket.create(options).hasSucceeded())
    let recorder = Recorder(bucket.publishedEntries(of: Int.self))
    await nats.isWatching("KV_prices")

    #expect(await bucket.put(1, for: "a").hasSucceeded())

    await until { recorder.updates == [[:], ["a": 1], [:]] }
    #expect(await bucket.keys().result == .success([]))
    await nats.close()
  }

  @Test func `N13 a value can expire on servers since 2_11`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("prices")
    #expect(await bucket.create().hasSucceeded())
    let version = try #require(nats.serverVersion)
    let recorder = Recorder(bucket.publishedValue(of: Int.self, for: "a"))
    await nats.isWatching("KV_prices")

    let result = await bucket.put(1, for: "a", expiringAfter: .milliseconds(1_500)).result

    if version.hasPrefix("2.9.") || version.hasPrefix("2.10.") {
      #expect(result == .failure(.unsupported(needs: "2.11")))
      #expect(await bucket.keys().result == .success([]))
    } else {
      #expect(result == .success(NATSRevision(1)))
      await until { recorder.updates == [nil, 1, nil] }
      #expect(await bucket.keys().result == .success([]))
    }
    await nats.close()
  }
}
#endif

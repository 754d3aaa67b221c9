#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct BucketTests {
  @Test func `N7 a published value emits its current value, then each change`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    #expect(await bucket.put("dark", for: "theme").hasSucceeded())
    let theme = bucket.publishedValue(of: String.self, for: "theme")
    let entry = bucket.publishedEntry(of: String.self, for: "other")

    let recorder = Recorder(theme)
    #expect(await recorder.next(2) == [nil, "dark"])
    let late = Recorder(theme)
    #expect(await late.next() == ["dark"])
    #expect(await bucket.put("light", for: "theme").hasSucceeded())
    #expect(await recorder.next() == ["light"])
    #expect(await bucket.delete("theme").hasSucceeded())
    #expect(await recorder.next() == [nil])
    let absent = Recorder(entry)
    #expect(await absent.next(2) == [.unknown, .absent(.none)])
    #expect(await bucket.put("x", for: "other").hasSucceeded())
    guard case .present("x", _)? = await absent.next().first else {
      Issue.record("no value")
      return
    }
    await until { late.updates == ["dark", "light", nil] }
    await nats.close()
    await until { recorder.hasEnded }
  }

  @Test func `N7 a put that expects an old revision fails`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    let first = try #require(await bucket.put(1, for: "count", replacing: NATSRevision.none).result)
      .get()
    let second = try #require(await bucket.put(2, for: "count", replacing: first).result).get()

    #expect(
      await bucket.put(3, for: "count", replacing: first).result
        == .failure(.revision(second.number)))
    #expect(
      await bucket.put(3, for: "count", replacing: NATSRevision.none).result
        == .failure(.revision(second.number)))
    #expect(
      await bucket.delete("count", replacing: first).result == .failure(.revision(second.number)))
    let count = bucket.publishedEntry(of: Int.self, for: "count")
    #expect(
      await count.firstResult { $0.revision == second ? $0 : nil } == .present(2, second))
    await nats.close()
  }

  @Test func `N7 concurrent writers finally agree with the bucket`() async throws {
    let server = try await NATSServer.keeping()
    let (one, two) = (NATSConnection(server.url), NATSConnection(server.url))
    #expect(await one.bucket("config").create().hasSucceeded())
    let recorders = [one, two].map {
      Recorder($0.bucket("config").publishedValue(of: Int.self, for: "count"))
    }
    await withTaskGroup { group in
      for (index, nats) in [one, two].enumerated() {
        group.addTask {
          for number in 0..<200 {
            _ = await nats.bucket("config").put(number * 2 + index, for: "count").result
          }
        }
      }
    }
    #expect(await one.bucket("config").put(1_000, for: "count").hasSucceeded())

    await until { recorders.allSatisfy { $0.updates.last == 1_000 } }

    for recorder in recorders {
      #expect(recorder.updates.first == .some(nil))
      #expect(zip(recorder.updates, recorder.updates.dropFirst()).allSatisfy { $0 != $1 })
    }
    await one.close()
    await two.close()
  }

  @Test(arguments: [NATSCatchUp.latest, .everyRevision])
  func `N4 a published value keeps its last value without a connection, and catches up`(
    _ way: NATSCatchUp
  ) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSBucketOptions()
    options.history = 10
    #expect(await nats.bucket("config").create(options).hasSucceeded())
    #expect(await nats.bucket("config").put(1, for: "count").hasSucceeded())
    let proxy = try Proxy(to: server.address)
    let watching = NATSConnection(proxy.url)
    let count = watching.bucket("config").publishedValue(
      of: Int.self, for: "count", catchingUp: way)
    let recorder = Recorder(count)
    #expect(await recorder.next(2) == [nil, 1])

    proxy.cut()
    await watching.isEventually(.reconnecting)
    for number in 2...5 {
      #expect(await nats.bucket("config").put(number, for: "count").hasSucceeded())
    }
    #expect(count.current() == 1)
    proxy.mend()

    if case .everyRevision = way {
      #expect(await recorder.next(4) == [2, 3, 4, 5])
    } else {
      #expect(await recorder.next() == [5])
    }
    #expect(await nats.bucket("config").put(6, for: "count").hasSucceeded())
    #expect(await recorder.next() == [6])
    await watching.close()
    await nats.close()
  }

  @Test func `N4 a published value continues after a restart of the server`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let bucket = nats.bucket("config")
    #expect(await bucket.create().hasSucceeded())
    #expect(await bucket.put(1, for: "count").hasSucceeded())
    let recorder = Recorder(bucket.publishedValue(of: Int.self, for: "count"))
    #expect(await recorder.next(2) == [nil, 1])
    for round in 2..<4 {
      await server.stop()
      await nats.isEventually(.reconnecting)
      try await server.start()
      await nats.isEventually(.connected)
      await until(await bucket.put(round, for: "count").hasSucceeded())

      #expect(await recorder.next() == [round])
    }
    await nats.close()
  }

  @Test(arguments: ["", "a b", "*", ">", "a.>", ".a", "a.", "ä", "a\r\n"])
  func `N9 an invalid key is refused`(_ key: String) async throws {
    let nats = NATSConnection(try Address().url)
    let diagnostics = Recorder(nats.diagnostics)

    #expect(await nats.bucket("b").put(1, for: key).result == .failure(.invalidSubject(key)))
    let token = nats.bucket("b").publishedValue(of: Int.self, for: key).subscribe { _ in }

    // The diagnostic about the missing server may come first.
    await until { diagnostics.updates.contains(.notSubscribed(subject: key, .invalidSubject(key))) }
    #expect(diagnostics.updates.contains(.notSubscribed(subject: key, .invalidSubject(key))))
    withExtendedLifetime(token) {}
  }

  @Test func `N9 a missing bucket is reported, and read once it exists`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    let bucket = nats.bucket("late")
    let recorder = Recorder(bucket.publishedValue(of: Int.self, for: "count"))

    #expect(await diagnostics.next() == [.notRead(stream: "KV_late", .noStream("KV_late"))])
    #expect(await bucket.put(1, for: "count").result == .failure(.noStream("KV_late")))
    #expect(await bucket.create().hasSucceeded())
    #expect(await bucket.put(1, for: "count").hasSucceeded())

    #expect(await recorder.next(2) == [nil, 1])
    await nats.close()
  }
}
#endif

#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct LossTests {
  @Test func `N4 the status reports loss and reconnect, and subscriptions continue`() async throws {
    let address = try Address()
    let nats = NATSConnection(address.url)
    let status = Recorder(nats.status)
    let server = try await NATSServer(at: address)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    try nats.publish(1, on: "numbers")
    #expect(await recorder.next().first?.payload == 1)

    for round in 2..<4 {
      await server.stop()
      await nats.isEventually(.reconnecting)
      try await server.start()
      await nats.isEventually(.connected)
      try nats.publish(round, on: "numbers")
      #expect(await recorder.next().first?.payload == round)
    }

    await nats.close()
    #expect(
      status.updates == [
        .connecting, .connected, .reconnecting, .connected, .reconnecting, .connected, .draining,
        .closed(nil),
      ])
    #expect(status.hasEnded)
  }

  @Test func `N4 messages published while the connection is lost are sent in order`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    await server.stop()
    await nats.isEventually(.reconnecting)
    for number in 0..<1_000 { try nats.publish(number, on: "numbers") }

    try await server.start()

    #expect(await recorder.next(1_000).map(\.payload) == Array(0..<1_000))
    await nats.close()
  }

  @Test func `N1 N5 threads publish during restarts, and until the connection is closed`()
    async throws
  {
    let server = try await NATSServer()
    let (sender, receiver) = (NATSConnection(server.url), NATSConnection(server.url))
    let seen = Shared([Int](repeating: -1, count: 4))
    let wrong = Shared(0)
    let token = receiver.broadcaster(of: [Int].self, on: "numbers").subscribe { message in
      let (thread, number) = (message.payload[0], message.payload[1])
      if seen.value[thread] >= number { wrong.increment() }
      seen.change { $0[thread] = number }
    }
    try await receiver.areSubscribed()
    await sender.isEventually(.connected)

    async let published: Void = onQueue {
      onThreads(4) { thread in
        var number = 0
        while true {
          do throws(NATSError) {
            try sender.publish([thread, number], on: "numbers")
            number += 1
          } catch {
            if error == .closed { return }
            #expect(error == .sendLimitReached)
            usleep(100)
          }
        }
      }
    }
    for _ in 0..<2 {
      let before = seen.value
      await until { zip(seen.value, before).allSatisfy { $0 > $1 } }
      await server.stop()
      try await server.start()
    }
    let before = seen.value
    await until { zip(seen.value, before).allSatisfy { $0 > $1 } }
    await sender.close()
    await published

    #expect(wrong.value == 0)
    withExtendedLifetime(token) {}
    await receiver.close()
  }

  @Test func `N4 a connection continues with another server of the cluster`() async throws {
    let cluster = try await Cluster(advertises: true)
    let urls = cluster.urls
    let nats = NATSConnection([urls[0]])
    let other = NATSConnection([urls[1]])
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    await cluster.servers[0].stop()

    // The first server has announced the other servers.
    await nats.isEventually(.connected)
    var number = 0
    while recorder.updates.isEmpty, !Task.isCancelled {
      try other.publish(number, on: "numbers")
      number += 1
      try await Task.sleep(for: .milliseconds(10))
    }

    #expect(!recorder.updates.isEmpty)
    await nats.close()
    await other.close()
  }

  @Test func `N4 a brief suspension of the server preserves connection and messages`()
    async throws
  {
    let address = try Address()
    let nats = NATSConnection(address.url)
    let status = Recorder(nats.status)
    let server = try await NATSServer(at: address)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    await nats.isEventually(.connected)
    server.send(SIGSTOP)
    for number in 0..<1_000 { try nats.publish(number, on: "numbers") }

    server.send(SIGCONT)

    #expect(await recorder.next(1_000).map(\.payload) == Array(0..<1_000))
    #expect(status.updates == [.connecting, .connected])
    await nats.close()
  }

  @Test func `N4 a silent server is treated as lost`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.pingInterval = .milliseconds(100)
    let nats = NATSConnection(server.url, options: options)
    await nats.isEventually(.connected)
    server.send(SIGSTOP)

    #expect(await nats.isEventually(.reconnecting))

    server.send(SIGCONT)
    #expect(await nats.isEventually(.connected))
    await nats.close()
  }
}
#endif

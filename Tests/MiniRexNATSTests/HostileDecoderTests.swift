#if NATS
import Foundation
import TestSupport
import Testing

@testable import MiniRexFleet
@testable import MiniRexNATS

/// Bytes and numbers that a server or another process may send.
@Suite(.heavy)
struct HostileDecoderTests {
  private static let stream =
    #"{"created":"2026-11-27T01:02:03.123456789Z","config":{"name":"board","subjects":["board"]},"#
    + #""state":{"messages":3,"first_seq":1,"last_seq":3,"last_ts":"2026-11-27T01:02:03.1Z"},"#
    + #""cluster":{"leader":"a","replicas":[{"offline":false,"active":12}]},"ts":"2026-11-27T01:02:04Z"}"#
  private static let consumer =
    #"{"name":"c","created":"2026-11-27T01:02:03Z","num_pending":7,"#
    + #""delivered":{"consumer_seq":4,"stream_seq":5}}"#
  private static let report =
    #"{"name":"billing","version":"1.0.0","process":1,"processor":0.5,"memory":4096,"#
    + #""replicas":[{"name":"board","phase":"current","sequence":4,"behind":1,"pending":2,"#
    + #""digest":{"sequence":4,"time":7,"checksum":5}}],"subscriptions":[{"id":1,"drops":3}]}"#

  @Test func `no answer of a server stops the process`() {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      if let stream = try? decoder.decode(
        JetStream.Stream.self, from: forger.forge(Self.stream))
      {
        _ = (stream.time, stream.cluster?.mayBeOutdated, Timestamp(stream.created)?.text)
      }
      if let made = try? decoder.decode(
        JetStream.Consumer.self, from: forger.forge(Self.consumer))
      {
        var state = ConsumerState(.start)
        if let (generation, _) = state.begin(over: 1) {
          state.beginSnapshot(generation)
          _ = state.hasMade(made, generation)
          state.rollBack(to: made.delivered.streamSeq, isBucket: false)
        }
        _ = made.delivered.streamSeq.next
      }
    }
  }

  @Test func `no time, header, or greeting stops the process`() {
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      let time = String(
        decoding: forger.forge("2026-11-27T01:02:03.123456789+01:00"), as: UTF8.self)
      _ = Timestamp(time).map(\.text)
      _ = ISO8601.date(of: time)
      _ = Timestamp(nanoseconds: forger.time()).text
      let block = forger.forge("NATS/1.0 503 No Responders\r\nA: 1\r\n b\r\nC:\r\n\r\n")
      unsafe block.withUnsafeBytes { _ = unsafe HeaderBlock($0).headers }
      _ = ServerInfo([UInt8](forger.forge(#"INFO {"version":"2.9.10","connect_urls":["a:1"]}"#)))
      let trace = forger.forge("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
      _ = TraceContext(traceparent: String(decoding: trace, as: UTF8.self))?.child().traceparent
    }
  }

  @Test func `no report and no frame stops a page of a fleet`() {
    let start = ContinuousClock.now
    var roster = Roster()
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      let id = "\(seed % 20)"
      let now = start + .seconds(Int(seed))
      roster.take([UInt8](forger.forge(Self.report)), from: id, at: now)
      _ = roster.tick(at: now, serverAnswers: seed % 3 != 0)
      _ = roster.rows[id]?.concern(at: now)
      _ = try? InspectorFrame(natsPayload: forger.bytes(Data(count: 12)))
    }
  }
}

extension Forger {
  /// Changes fields, or bytes, or both.
  fileprivate mutating func forge(_ text: String) -> Data {
    let kind = Int.random(in: 0..<3, using: &random)
    let data = Data((kind == 0 ? text : fields(text)).utf8)
    return kind == 1 ? data : bytes(data)
  }
}
#endif

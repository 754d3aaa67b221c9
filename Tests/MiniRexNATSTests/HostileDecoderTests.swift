#if NATS
import Foundation
import TestSupport
import Testing

@testable import MiniRexFleet
@testable import MiniRexNATS
@testable import MiniRexNATSStore

/// Bytes and numbers that a server or another process may send.
///
/// `MINIREX_SCALE=10` makes it more than a million inputs.
@Suite(.heavy)
struct HostileDecoderTests {
  private static let stream =
    #"{"created":"2026-11-27T01:02:03.123456789Z","config":{"name":"board","subjects":["board"],"#
    + #""max_msgs":-1,"max_bytes":-1,"max_age":0,"max_msgs_per_subject":-1,"storage":"file","#
    + #""num_replicas":3,"discard":"old","retention":"limits","duplicate_window":120000000000},"#
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
    var read: [String: Int] = [:]
    func decode<Value: Decodable>(_ text: String, _ forger: inout Forger) -> Value? {
      let value = try? decoder.decode(Value.self, from: forger.forge(text))
      if value != nil { read["\(Value.self)", default: 0] += 1 }
      return value
    }
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      var state = ConsumerState(.start)
      let generation = state.begin(over: 1)?.generation ?? 0
      state.beginSnapshot(generation)
      if let stream: JetStream.Stream = decode(Self.stream, &forger) {
        _ = (stream.time, stream.cluster?.mayBeOutdated, Timestamp(stream.created)?.text)
        _ = (stream.config.removal, stream.config.takes("board"))
        state.learn(stream, generation)
        _ = state.compare(stream, isBucket: seed % 2 == 0)
      }
      if let made: JetStream.Consumer = decode(Self.consumer, &forger) {
        _ = state.hasMade(made, generation)
        state.rollBack(to: made.delivered.streamSeq, isBucket: false)
        _ = made.delivered.streamSeq.next
      }
      let place = forger.forge("$JS.ACK.board.c.1.3.1.1764205323100000000.0") + [0]
      let metadata = unsafe place.withUnsafeBytes { bytes in
        unsafe MessageMetadata(reply: bytes.assumingMemoryBound(to: CChar.self).baseAddress!)
      }
      if let metadata {
        read["place", default: 0] += 1
        _ = state.take(metadata, generation, over: 1, isBucket: false)
        _ = state.hasCalled()
      }
      if let stored: JetStream.Stored = decode(HostileServer.Client.stored, &forger) {
        _ = Timestamp(stored.message.time)?.nanoseconds
        unsafe (stored.message.hdrs ?? Data()).withUnsafeBytes {
          _ = unsafe HeaderBlock($0).headers
        }
      }
      if let refusal: JetStream.Refusal = decode(HostileServer.Client.refusal, &forger),
        let error = refusal.error
      {
        let typed = JetStream.error(error, of: "board")
        _ = (typed.isMissingMessage, typed.limitOfUnacknowledged(below: 20), "\(typed)")
      }
      let _: NATSSnapshots.Head? = decode(HostileServer.Client.head, &forger)
      let answer = forger.forge(#"{"stream":"board","seq":12}"#)
      unsafe answer.withUnsafeBytes {
        if unsafe JetStream.Appended($0, to: "board") != nil { read["answer", default: 0] += 1 }
      }
    }
    // An input that is never read would test nothing.
    #expect(read.count == 7 && read.values.allSatisfy { $0 > scaled(100) }, "\(read)")
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
      let url = forger.forge("nats://us%20er:p%40ss@[::1]:4222/,127.0.0.1:4223")
      _ = try? ServerAddress.list([String(decoding: url, as: UTF8.self)]).map(\.description)
    }
  }

  @Test func `an expiration beyond the range is the latest`() {
    #expect(RawMessage.milliseconds(of: "9223372036854775s") == 9_223_372_036_854_775_000)
    #expect(RawMessage.milliseconds(of: "9223372036854776s") == .max)
    #expect(RawMessage.milliseconds(of: "9223372036854775807") == .max)
    #expect(RawMessage.milliseconds(of: "9223372036854775808s") == nil)
    #expect(RawMessage.milliseconds(of: "-1s") == nil)
  }

  @Test func `no truncated input stops the process`() {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    var roster = Roster()
    var read: [String: Int] = [:]
    for input in [
      Self.stream, Self.consumer, Self.report, HostileServer.Client.stored,
      HostileServer.Client.refusal, HostileServer.Client.head, #"{"stream":"board","seq":12}"#,
      #"{"status":"ok","text":"text/html","frameCount":3}"#,
      "$JS.ACK.board.c.1.3.1.1764205323100000000.0",
      "$JS.ACK.hub.a.board.c.1.3.1.1764205323100000000.0.x",
      "2026-11-27T01:02:03.123456789+01:00",
      "NATS/1.0 503 No Responders\r\nA: 1\r\n b\r\nC:\r\n\r\n",
      #"INFO {"version":"2.9.10","connect_urls":["a:1"]}"#,
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "nats://us%20er:p%40ss@[::1]:4222/,127.0.0.1:4223",
    ] {
      // Each decoder receives each input.
      for length in 0...input.utf8.count {
        let bytes = Array(input.utf8.prefix(length))
        let (data, text) = (Data(bytes), String(decoding: bytes, as: UTF8.self))
        func count(_ name: String, _ isRead: Bool) { if isRead { read[name, default: 0] += 1 } }
        count("stream", (try? decoder.decode(JetStream.Stream.self, from: data)) != nil)
        count("consumer", (try? decoder.decode(JetStream.Consumer.self, from: data)) != nil)
        count("stored", (try? decoder.decode(JetStream.Stored.self, from: data)) != nil)
        count("refusal", (try? decoder.decode(JetStream.Refusal.self, from: data))?.error != nil)
        count("head", (try? decoder.decode(NATSSnapshots.Head.self, from: data)) != nil)
        count("frame", (try? InspectorFrame(natsPayload: data)) != nil)
        count("page", (try? JSONDecoder().decode(InspectorAnswer.self, from: data)) != nil)
        unsafe bytes.withUnsafeBytes { bytes in
          count("header", unsafe HeaderBlock(bytes).problem == nil)
          count("append", unsafe JetStream.Appended(bytes, to: "board") != nil)
        }
        unsafe (bytes + [0]).withUnsafeBytes { bytes in
          let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress!
          count("place", unsafe MessageMetadata(reply: start) != nil)
        }
        roster.take(bytes, from: "a", at: .now)
        count("report", roster.rows["a"] != nil)
        count("time", Timestamp(text)?.text != nil)
        count("date", ISO8601.date(of: text) != nil)
        count("greeting", ServerInfo(bytes).version != nil)
        count("trace", TraceContext(traceparent: text)?.child().traceparent != nil)
        count("address", (try? ServerAddress.list([text])) != nil)
      }
    }
    // An input that is never read would test nothing.
    #expect(read.count == 16, "\(read)")
  }

  @Test func `no report and no frame stops a page of a fleet`() {
    let start = ContinuousClock.now
    var roster = Roster()
    var members: Set<String> = []
    var order = FrameOrder()
    for seed in 0..<UInt64(scaled(4_000)) {
      var forger = Forger(seed: seed)
      let id = "\(seed % 20)"
      let now = start + .seconds(Int(seed))
      roster.take([UInt8](forger.forge(Self.report)), from: id, at: now)
      let (changed, removed) = roster.tick(at: now, serverAnswers: seed % 3 != 0)
      let update = FleetUpdate(
        serverAnswers: true, refusedCount: roster.refusedCount, changed: changed, removed: removed,
        rows: roster.rows, time: now)
      if seed % 10 == 0 { check(update.change()) }
      if seed % 200 == 0 { check(update.whole()) }
      _ = roster.rows[id]?.concern(at: now)
      if roster.rows[id] != nil { members.insert(id) }
      if let frame = try? InspectorFrame(natsPayload: forger.bytes(Data(count: 12))) {
        order = order.next(.frame(frame))
        if order.bytes == nil { order = FrameOrder() }
      }
      _ = try? JSONDecoder().decode(
        InspectorAnswer.self,
        from: forger.forge(#"{"status":"ok","text":"text/html","frameCount":3}"#))
    }
    // A few seeds forge no report that a roster takes from some of them.
    #expect(10...20 ~= members.count)
  }

  /// Checks that an event is one line of JSON, in which a browser finds the reports.
  private func check(_ event: Data, sourceLocation: SourceLocation = #_sourceLocation) {
    let text = String(decoding: event, as: UTF8.self)
    let data = text.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
    // A browser reads it as a number out of range.
    let json = data.joined().replacing("1e400", with: "0")
    let value = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    #expect(data.count == 1 && value?["rows"] is [Any], "\(text)", sourceLocation: sourceLocation)
  }
}
#endif

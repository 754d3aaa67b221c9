#if NATS
import Foundation
import MiniRex
import TestSupport
import Testing

@testable import MiniRexFleet

@Suite(.heavy)
struct FleetRosterTests {
  private let start = ContinuousClock.now

  private func report(
    _ name: String = "billing", version: String = "1.0.0", process: Int = 1, _ more: String = ""
  ) -> [UInt8] {
    Array(#"{"name":"\#(name)","version":"\#(version)","process":\#(process)\#(more)}"#.utf8)
  }

  private func digest(_ sequence: Int, _ checksum: Int, time: Int = 7) -> String {
    #","replicas":[{"name":"board","phase":"current","digest":{"sequence":\#(sequence),"#
      + #""time":\#(time),"checksum":\#(checksum)}}]"#
  }

  private func concern(_ id: String, in roster: Roster, after seconds: Int) -> Concern? {
    roster.rows[id]?.concern(at: start + .seconds(seconds))
  }

  @Test func `M1 a silent process is lost after 6 s and forgotten after 10 minutes`() {
    var roster = Roster()
    _ = roster.tick(at: start, serverAnswers: true)
    roster.take(report(), from: "A", at: start)
    #expect(roster.tick(at: start + .seconds(6), serverAnswers: true).changed.map(\.id) == ["A"])
    #expect(concern("A", in: roster, after: 6) == Concern.none)

    let lost = roster.tick(at: start + .milliseconds(6_001), serverAnswers: true)
    #expect(lost.changed.map(\.id) == ["A"])
    #expect(concern("A", in: roster, after: 7) == .lost)
    #expect(roster.tick(at: start + .seconds(600), serverAnswers: true).changed.isEmpty)
    #expect(roster.tick(at: start + .seconds(601), serverAnswers: true).removed == ["A"])
    #expect(roster.rows.isEmpty)
  }

  @Test func `M1 a restarted process replaces a lost process with its name and host`() {
    var roster = Roster()
    _ = roster.tick(at: start, serverAnswers: true)
    for id in ["A", "B"] { roster.take(report(), from: id, at: start) }
    roster.take(report("mail"), from: "C", at: start)
    roster.take(report(), from: "D", at: start + .seconds(1))
    // One process joined, so one of the two lost processes is replaced.
    for second in 1...7 {
      _ = roster.tick(at: start + .seconds(second), serverAnswers: true)
      roster.take(report(), from: "D", at: start + .seconds(second))
    }
    #expect(roster.rows.values.filter(\.isLost).count == 2)
    #expect(roster.rows["C"]?.isLost == true && roster.rows["D"]?.restartCount == 1)

    roster.take(report(), from: "E", at: start + .seconds(8))
    _ = roster.tick(at: start + .seconds(8), serverAnswers: true)
    #expect(Set(roster.rows.keys) == ["C", "D", "E"])
  }

  @Test func `M3 no process is lost while the server does not answer`() {
    var roster = Roster()
    _ = roster.tick(at: start, serverAnswers: true)
    roster.take(report(), from: "A", at: start)
    for second in 1...100 { _ = roster.tick(at: start + .seconds(second), serverAnswers: false) }
    #expect(concern("A", in: roster, after: 100) == Concern.none)

    // The processes have 6 seconds to report again.
    for second in 101...107 { _ = roster.tick(at: start + .seconds(second), serverAnswers: true) }
    #expect(concern("A", in: roster, after: 107) == Concern.none)
    _ = roster.tick(at: start + .seconds(108), serverAnswers: true)
    #expect(concern("A", in: roster, after: 108) == .lost)
  }

  @Test func `M5 divergence is visible`() {
    var roster = Roster()
    for (id, checksum) in [("A", 1), ("B", 2), ("C", 1)] {
      roster.take(report("billing", digest(100, checksum)), from: id, at: start)
    }
    _ = roster.tick(at: start, serverAnswers: true)
    #expect(roster.rows["B"]?.differences == ["board"])
    #expect(concern("B", in: roster, after: 0) == .wrong)
    #expect(concern("A", in: roster, after: 0) == Concern.none)

    // A process that has gone further is compared at the last common entry.
    roster.take(report("billing", digest(200, 9)), from: "A", at: start)
    _ = roster.tick(at: start, serverAnswers: true)
    #expect(roster.rows["B"]?.differences == ["board"])

    #expect(roster.rows["C"]?.differences == [])

    // The states agree at a later entry.
    for id in ["B", "C"] { roster.take(report("billing", digest(200, 9)), from: id, at: start) }
    let (changed, _) = roster.tick(at: start, serverAnswers: true)
    #expect(Set(changed.map(\.id)) == ["B", "C"])
    #expect(roster.rows.values.allSatisfy { $0.differences.isEmpty })
  }

  @Test func `M5 only states after the same entry are compared`() {
    var roster = Roster()
    roster.take(report("billing", digest(100, 1)), from: "A", at: start)
    // Another sequence, and the same sequence in a restored log.
    roster.take(report("billing", digest(99, 2)), from: "B", at: start)
    roster.take(report("billing", digest(100, 3, time: 8)), from: "C", at: start)
    _ = roster.tick(at: start, serverAnswers: true)

    #expect(roster.rows.values.allSatisfy { $0.differences.isEmpty })
  }

  @Test func `M5 both of two differing processes are named`() {
    var roster = Roster()
    for (id, checksum) in [("A", 1), ("B", 2)] {
      roster.take(report("billing", digest(100, checksum)), from: id, at: start)
    }
    _ = roster.tick(at: start, serverAnswers: true)

    #expect(roster.rows.values.allSatisfy { $0.differences == ["board"] })
  }

  @Test func `a process that reports with the identifier of another is marked`() {
    var roster = Roster()
    roster.take(report(process: 1), from: "A", at: start)
    #expect(concern("A", in: roster, after: 0) == Concern.none)
    roster.take(report(process: 2), from: "A", at: start)

    #expect(concern("A", in: roster, after: 1) == .wrong)
    #expect(concern("A", in: roster, after: 60) == Concern.none)
  }

  @Test func `the list of processes is bounded`() {
    var limits = Roster.Limits()
    limits.members = 3
    var roster = Roster(limits)
    for id in ["A", "B", "C", "D"] { roster.take(report(), from: id, at: start) }
    #expect(Set(roster.rows.keys) == ["A", "B", "C"] && roster.refusedCount == 1)

    _ = roster.tick(at: start, serverAnswers: true)
    _ = roster.tick(at: start + .seconds(7), serverAnswers: true)
    roster.take(report(), from: "D", at: start + .seconds(7))
    #expect(roster.rows.count == 3 && roster.rows["D"] != nil)
  }

  @Test func `M4 a missing frame ends an answer`() throws {
    let frames = InspectorFrame.frames(Data(count: 300_000), from: 7)
    #expect(frames.map(\.number) == [7, 8, 9])
    #expect(frames.reduce(0) { $0 + $1.bytes.count } == 300_000)
    for frame in frames { #expect(try InspectorFrame(natsPayload: frame.natsPayload()) == frame) }
    for size in [0, 3, InspectorFrame.limit + 5] {
      #expect(throws: InspectorFrame.Malformed.self) {
        try InspectorFrame(natsPayload: Data(count: size))
      }
    }

    let parts = [0, 1, 3, 4].map { number in
      AnswerPart.frame(InspectorFrame(number: number, bytes: Data([UInt8(number)])))
    }
    var order = FrameOrder()
    let bytes = parts.map { part in
      order = order.next(part)
      return order.bytes
    }
    #expect(bytes == [Data([0]), Data([1]), nil, nil])
    #expect(FrameOrder().next(.answer(.success(InspectorAnswer()))).bytes == nil)
  }

  @Test func `text that no member sends is refused`() {
    var roster = Roster()
    let deep = String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)
    let hostile = [
      "", "{}", "null", "[]", #"{"name":""}"#, #"{"name":1}"#, #"{"name":"a"}x"#, #"{"name":"a",}"#,
      "{\"name\":\"a\n\"}", "{\"name\":\"a\"\n}", #"{"name":"\x"}"#, #"{"name":"\u12g4"}"#,
      #"{"name":"a","memory":01}"#, #"{"name":"a","memory":1.}"#, #"{"name":"a","memory":NaN}"#,
      #"{"name":"a","process":99999999999999999999}"#, #"{"name":"a","process":1.5}"#,
      #"{"name":"a","unready":{}}"#, #"{"name":"a","unready":[1]}"#,
      #"{"name":"a","replicas":[1]}"#,
      #"{"name":"a","subscriptions":null}"#, #"{"name":"a","x":\#(deep)}"#,
      #"{"name":"a","n\u0061me":{}}"#, #"{"name":"a","memory":{"valueOf":1}}"#,
      #"{"name":"a","memory":1e999}"#, #"{"name":"a","processor":1e999}"#,
      #"{"name":"a","trouble":1}"#, #"{"name":"a","trouble":{"text":{"toString":1}}}"#,
      #"{"name":"a","subscriptions":[{"name":[]}]}"#,
      #"{"name":"a","replicas":[\#(Array(repeating: "{}", count: 17).joined(separator: ","))]}"#,
      #"{"name":"a","x":tru}"#, #"{"name":"a","x":"#,
      #"{"name":"a"#,
      #"{"name":"\#(String(repeating: "a", count: 2_048))"}"#,
    ]
    for text in hostile { roster.take(Array(text.utf8), from: "A", at: start) }
    roster.take(Array("{\"name\":\"".utf8) + [0xFF] + Array("\"}".utf8), from: "A", at: start)
    for id in ["", "a b", "a\"b", "<", String(repeating: "a", count: 65)] {
      roster.take(report(), from: id, at: start)
    }

    #expect(roster.rows.isEmpty)
    #expect(roster.refusedCount == hostile.count + 6)
    let valid =
      #"{"name":"\"\u00e4</script>","memory":-15,"processor":-1.5e+3,"x":[null,true,{"y":[]}],"host":""}"#
    roster.take(Array(valid.utf8), from: "A", at: start)
    #expect(roster.rows["A"]?.report.name == #"\"\u00e4</script>"#)
  }

  @Test func `text that the cursor accepts is JSON on one line`() {
    var generator = SeededGenerator(seed: 4)
    let parts = [
      "{", "}", "[", "]", ",", ":", "\"a\"", "\"name\"", "1", "-0", "2.5e-3", "true", "null", "\\",
      "\"", "\"\\u\u{10}041\"", "\"\\u\u{19}\u{19}\u{19}\u{19}\"",
      " ", "\n", "\u{1}", "01", "\"\\u0041\"",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 1...9, using: &generator))
        .map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
      var cursor = JSONCursor(Array(text.utf8))
      do {
        try cursor.skip()
        try cursor.end()
      } catch {
        continue
      }
      let data = Data(text.utf8)
      #expect(!text.contains("\n"))
      #expect(
        (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil,
        "\(text)")
    }
  }

  @Test func `M6 each member reports at most 1 KiB a second`() throws {
    let long = String(repeating: "😀\u{0}\"\\", count: 10_000)
    var huge = MemberReport(
      name: shortened(long, to: 64), version: shortened(long, to: 32),
      host: shortened(long, to: 64),
      process: .max, started: .max, isInspected: true)
    huge.unready = (1...4).map { _ in shortened(long, to: 40) }
    huge.trouble = MemberReport.Trouble(text: shortened(long, to: 200), time: .max)
    huge.replicas = (1...100).map { _ in
      ReplicaReport(
        name: shortened(long, to: 40), phase: "catchingUp", sequence: .max, behind: .max,
        pending: .max, oldest: .max, snapshot: .max, trouble: shortened(long, to: 100),
        digest: ReplicaReport.Digest(sequence: .max, time: .max, checksum: .max))
    }
    huge.subscriptions = (1...100).map { _ in
      SubscriptionReport(
        name: shortened(long, to: 60), place: shortened(long, to: 60), rate: 1e300, backlog: .max,
        drops: .max)
    }
    let data = huge.encoded()
    let id = "_MINIREX.report.production.\(UUID().uuidString)"
    #expect(!data.isEmpty)
    // A report every two seconds, with the line of the protocol.
    #expect(data.count + "PUB \(id) 1900\r\n\r\n".utf8.count <= 2 * 1_024)
    let received = try #require(ReceivedReport([UInt8](data)))
    #expect(!received.replicas.isEmpty)
  }
}
#endif

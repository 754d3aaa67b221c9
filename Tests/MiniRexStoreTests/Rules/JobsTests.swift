import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexStore

private struct CollidingJob: Codable, Identifiable, Sendable {
  struct ID: Codable, Hashable, Sendable {
    let number: Int

    func hash(into hasher: inout Hasher) {}
  }

  var id: ID
  var amount = 1
}

/// The tests of ``Jobs`` as a value.
@Suite(.light) struct JobsTests {
  @Test func `jobs keep the order of addition, and each id once`() {
    var jobs = Jobs<Charge>()

    for id in [3, 1, 2, 1] { jobs.add(Charge(id: id)) }

    #expect(jobs.map(\.id) == [3, 1, 2])
    #expect(jobs.counts.pending == 3)
    #expect(jobs[id: 1]?.job == Charge(id: 1))
    #expect(jobs[id: 4] == nil)
    let (removed, missing) = (jobs.remove(1), jobs.remove(1))
    #expect(removed == Charge(id: 1) && missing == nil)
    #expect(jobs.map(\.id) == [3, 2])
    #expect(jobs.last?.id == 2)
  }

  @Test func `jobs whose identifiers have one hash are distinct`() {
    var jobs = Jobs<CollidingJob>()
    for number in 1...3 { jobs.add(CollidingJob(id: .init(number: number))) }

    #expect((1...4).map { jobs[id: .init(number: $0)]?.job.id.number } == [1, 2, 3, nil])
    let removed = jobs.remove(.init(number: 2))
    #expect(removed?.id.number == 2)
    #expect(jobs.map(\.id.number) == [1, 3])
    jobs.add(CollidingJob(id: .init(number: 3), amount: 5))
    #expect(jobs.map(\.job.amount) == [1, 5])
  }

  @Test func `W9 a known id replaces the job before its first attempt, in its place`() {
    var jobs = Jobs<Charge>()
    for id in 1...3 { jobs.add(Charge(id: id)) }

    let replaces = jobs.add(Charge(id: 2, amount: 5))

    #expect(replaces)
    #expect(jobs.map(\.id) == [1, 2, 3])
    #expect(jobs[id: 2]?.job.amount == 5)
    let replacesAgain = jobs.add(Charge(id: 2, amount: 6), replacing: .never)
    #expect(!replacesAgain)
    #expect(jobs[id: 2]?.job.amount == 5)
  }

  @Test func `W9 a known id is ignored after the first attempt, unless it always replaces`() {
    var jobs = Jobs<Charge>()
    jobs.add(Charge(id: 1))
    jobs.reduce(.began(id: 1, attempt: 1, at: UnixTime(milliseconds: 1)))

    let replaces = jobs.add(Charge(id: 1, amount: 5))
    #expect(!replaces)
    #expect(jobs[id: 1]?.job.amount == 1)
    let alwaysReplaces = jobs.add(Charge(id: 1, amount: 6), replacing: .always)
    #expect(alwaysReplaces)
    #expect(jobs[id: 1]?.job.amount == 6)
    #expect(jobs[id: 1]?.attempts == 0)
    #expect(jobs[id: 1]?.status == .pending)
  }

  @Test func `an action about another attempt has no effect`() {
    var jobs = Jobs<Charge>()
    jobs.add(Charge(id: 1))
    let time = UnixTime(milliseconds: 1)
    let failure = { (attempt: Int) in JobFailure(attempt: attempt, description: "no", time: time) }

    jobs.reduce(.failed(id: 1, failure(1), retryAt: nil))
    jobs.reduce(.finished(id: 1, attempt: 0))
    jobs.reduce(.began(id: 1, attempt: 2, at: time))
    jobs.reduce(.began(id: 7, attempt: 1, at: time))
    #expect(jobs[id: 1]?.status == .pending)

    jobs.reduce(.began(id: 1, attempt: 1, at: time))
    jobs.reduce(.failed(id: 1, failure(2), retryAt: nil))
    jobs.reduce(.finished(id: 1, attempt: 2))
    #expect(jobs[id: 1]?.status == .running(since: time))

    jobs.reduce(.failed(id: 1, failure(1), retryAt: nil))
    jobs.reduce(.began(id: 1, attempt: 2, at: time))
    jobs.reduce(.finished(id: 1, attempt: 1))
    #expect(jobs[id: 1]?.status == .failed)
    #expect(jobs.counts == JobCounts(pending: 0, waiting: 0, running: 0, failed: 1))
  }

  @Test func `the coded form of jobs is stable`() throws {
    let time = UnixTime(milliseconds: 1_700_000_000_000)
    var jobs = Jobs<Charge>()
    jobs.add(Charge(id: 1))
    jobs.add(Charge(id: 2), notBefore: time)
    for id in 3...4 {
      jobs.add(Charge(id: id))
      jobs.reduce(.began(id: id, attempt: 1, at: time))
    }
    jobs.reduce(.failed(id: 4, JobFailure(attempt: 1, description: "no", time: time), retryAt: nil))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys

    let text = String(decoding: try encoder.encode(jobs), as: UTF8.self)

    let charge = { (id: Int) in #"{"amount":1,"customer":"Ann","id":\#(id)}"# }
    #expect(
      text == """
        [{"job":\(charge(1))},{"job":\(charge(2)),"waitsUntil":1700000000000},\
        {"attempts":1,"job":\(charge(3)),"runsSince":1700000000000},\
        {"attempts":1,"failure":{"attempt":1,"description":"no","time":1700000000000},\
        "isFailed":true,"job":\(charge(4))}]
        """)
    let decoded = try JSONDecoder().decode(Jobs<Charge>.self, from: Data(text.utf8))
    #expect(decoded == jobs)
    #expect(decoded.counts == jobs.counts)
  }

  @Test func `the coded form of an action is stable`() throws {
    let time = UnixTime(milliseconds: 5)
    let failure = JobFailure(attempt: 2, description: "no", time: time)
    let actions: [(JobsAction<Charge>, String)] = [
      (.began(id: 1, attempt: 2, at: time), #"{"began":{"at":5,"attempt":2,"id":1}}"#),
      (
        .failed(id: 1, failure, retryAt: time),
        #"{"failed":{"failure":{"attempt":2,"description":"no","time":5},"id":1,"retryAt":5}}"#
      ),
      (
        .failed(id: 1, failure, retryAt: nil),
        #"{"failed":{"failure":{"attempt":2,"description":"no","time":5},"id":1}}"#
      ),
      (.finished(id: 1, attempt: 2), #"{"finished":{"attempt":2,"id":1}}"#),
      (.retry(1), #"{"retry":1}"#), (.remove(1), #"{"remove":1}"#),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys

    for (action, text) in actions {
      #expect(String(decoding: try encoder.encode(action), as: UTF8.self) == text)
      let decoded = try JSONDecoder().decode(JobsAction<Charge>.self, from: Data(text.utf8))
      #expect(decoded == action)
    }
  }

  @Test func `forged input of jobs is decoded or refused, and never traps`() throws {
    let charge = #"{"amount":1,"customer":"Ann","id":1}"#
    let accepted = [
      #"[{"job":\#(charge)},{"job":\#(charge)}]"#,
      #"[{"job":\#(charge),"attempts":-5,"runsSince":-9223372036854775808}]"#,
      #"[{"job":\#(charge),"attempts":9223372036854775807,"waitsUntil":9223372036854775807}]"#,
      #"[{"job":\#(charge),"isFailed":true,"runsSince":1}]"#,
    ]

    for text in accepted {
      var jobs = try JSONDecoder().decode(Jobs<Charge>.self, from: Data(text.utf8))
      #expect(jobs.count == 1)
      let attempts = jobs[id: 1]?.attempts ?? 0
      jobs.retry(1)
      jobs.reduce(.began(id: 1, attempt: attempts + 1, at: UnixTime(milliseconds: .max)))
      jobs.reduce(.began(id: 1, attempt: .max, at: UnixTime(milliseconds: .min)))
      jobs.reduce(.began(id: 1, attempt: .min, at: UnixTime(milliseconds: .min)))
      jobs.reduce(.finished(id: 1, attempt: .min))
      let removed = jobs.remove(1)
      #expect(removed != nil)
    }
    for text in ["{}", "[{}]", #"[{"job":{}}]"#, #"[{"job":\#(charge),"attempts":"1"}]"#] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Jobs<Charge>.self, from: Data(text.utf8))
      }
    }
    for text in ["{}", #"{"began":{}}"#, #"{"retry":1,"remove":1}"#, #"{"other":1}"#] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(JobsAction<Charge>.self, from: Data(text.utf8))
      }
    }
  }

  @Test func `times are clamped and rounded up`() {
    let time = UnixTime(milliseconds: 5)

    #expect(time.advanced(by: .nanoseconds(1)).milliseconds == 6)
    #expect(time.advanced(by: .nanoseconds(-1)).milliseconds == 5)
    #expect(time.advanced(by: .milliseconds(-7)).milliseconds == -2)
    #expect(UnixTime(milliseconds: .max).advanced(by: .seconds(1)).milliseconds == .max)
    #expect(time.advanced(by: .seconds(Int64.max)).milliseconds == .max)
    #expect(time.advanced(by: .seconds(Int64.min)).milliseconds == .min)
    #expect(UnixTime(milliseconds: .min).advanced(by: .milliseconds(-5)).milliseconds == .min)
    #expect(
      UnixTime(milliseconds: .min).duration(to: UnixTime(milliseconds: .max))
        > .seconds(Int64.max / 1_000))
    #expect(abs(UnixTime.now.milliseconds - Int64(Date().timeIntervalSince1970 * 1_000)) < 60_000)
  }

  @Test func `jobs agree with a model, and the visited changes lead to each version`() {
    var generator = SeededGenerator(seed: 42)
    var jobs = Jobs<Charge>()
    var model: [Int] = []
    var old = jobs
    var followed: [Int: JobBox<Charge>] = [:]

    for round in 0..<5_000 {
      let id = Int.random(in: 0..<400, using: &generator)
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        if !model.contains(id) { model.append(id) }
        jobs.add(Charge(id: id, amount: round))
      case 5..<8:
        model.removeAll { $0 == id }
        jobs.remove(id)
      case 8:
        let attempt = (jobs[id: id]?.attempts ?? 0) + 1
        jobs.reduce(.began(id: id, attempt: attempt, at: UnixTime(milliseconds: Int64(round))))
      default:
        guard let first = model.first else { continue }
        model.removeFirst()
        jobs.remove(first)
      }
      if round.isMultiple(of: 7) || round == 4_999 {
        jobs.nodes.visitChanges(from: old.nodes, by: \.number, isSame: { $0.box === $1.box }) {
          before, after in
          if let before { #expect(followed[before.element.number] === before.element.box) }
          if let before { #expect(old.nodes[before.at].box === before.element.box) }
          if let after { #expect(jobs.nodes[after.at].box === after.element.box) }
          if let number = (after ?? before)?.element.number {
            followed[number] = after?.element.box
          }
        }
        old = jobs
        #expect(followed.count == jobs.count)
      }
    }

    #expect(jobs.map(\.id) == model)
    for node in jobs.nodes { #expect(followed[node.number] === node.box) }
    for id in 0..<400 { #expect((jobs[id: id] != nil) == model.contains(id)) }
    let counts = jobs.counts
    #expect(counts.pending + counts.waiting + counts.running + counts.failed == jobs.count)
  }

  @Test func `a change of 20,000 jobs visits few nodes, even beside an older copy`() {
    var jobs = Jobs<Charge>()
    for id in 0..<20_000 { jobs.add(Charge(id: id)) }
    let old = jobs
    var visits = 0

    for id in [0, 10_000, 19_999] { jobs.remove(id) }
    jobs.add(Charge(id: 20_000))
    jobs.nodes.visitChanges(
      from: old.nodes,
      by: {
        visits += 1
        return $0.number
      }, isSame: { $0.box === $1.box }
    ) { _, _ in }

    #expect(visits < 2_000)
    #expect(old.count == 20_000)
  }

  @Test func `W11 the actions of jobs are described by their job and attempt`() {
    let failure = JobFailure(attempt: 2, description: "offline", time: UnixTime(milliseconds: 5))
    let actions: [JobsAction<Charge>] = [
      .began(id: 7, attempt: 2, at: UnixTime(milliseconds: 3)),
      .failed(id: 7, failure, retryAt: nil), .finished(id: 7, attempt: 3), .retry(7), .remove(7),
    ]
    #expect(
      actions.map { "\($0)" } == [
        "began(7, attempt: 2)", #"failed(7, attempt: 2, "offline")"#, "finished(7, attempt: 3)",
        "retry(7)", "remove(7)",
      ])
  }
}

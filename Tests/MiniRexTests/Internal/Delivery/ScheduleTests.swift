import MiniRex
import TestSupport
import Testing

@Suite(.light) struct ScheduleTests {
  private let me = ThreadID(rawValue: 1)
  private let other = ThreadID(rawValue: 2)

  @Test func `a ticket admits exactly the subscribers that had joined, in random scripts`() {
    for seed in 0..<UInt64(scaled(300)) {
      var random = SeededGenerator(seed: seed)
      var schedule = Schedule()
      var joined: [UInt] = []
      for _ in 0..<30 {
        if joined.isEmpty || Bool.random(using: &random) { joined.append(schedule.join()) }
        let ticket = schedule.ticketForAll(from: me)
        let newest = schedule.ticketForNewest(from: me)
        for serial in 0...schedule.lastSerial + 3 {
          let isLike =
            ticket.admits(serial) == joined.contains(serial)
            && newest.admits(serial) == (serial == joined.last)
          if !isLike { Issue.record("seed \(seed), serial \(serial) of \(joined)") }
        }
      }
      #expect(joined == joined.sorted())
    }
  }

  @Test func `after a handover, the first thread takes over and at most one task starts`() {
    var schedule = Schedule()
    _ = schedule.join()
    schedule.begin(on: me)
    let foreign = schedule.ticketForAll(from: other)
    for _ in 0..<Schedule.patience { _ = step(&schedule, foreign) }
    let early = schedule.takeOver(on: other)
    #expect(step(&schedule, foreign) == .handOver)

    let calls = [schedule.callTask(), schedule.callTask()]
    let takers = [schedule.takeOver(on: other), schedule.takeOver(on: me)]
    schedule.taskHasBegun()
    let laterCall = schedule.callTask()

    #expect(!early)
    #expect(calls == [true, false])
    #expect(takers == [true, false])
    #expect(schedule.deliverer == other)
    #expect(laterCall)
  }

  @Test func `a queued update counts as foreign unless the delivering thread sent it`() {
    var schedule = Schedule()
    _ = schedule.join()
    schedule.begin(on: me)
    let mine = schedule.ticketForAll(from: me)
    schedule.begin(on: other)

    let steps = (0...Schedule.patience).map { _ in step(&schedule, mine) }

    #expect(steps.last == .handOver)
    #expect(steps.dropLast().allSatisfy { $0 == .deliver })
  }

  @Test(
    arguments: [nil, false, true] as [Bool?],
    [(false, false), (false, true), (true, false), (true, true)])
  func `the next step depends on the remaining work`(
    foreign: Bool?, ended: (source: Bool, all: Bool)
  ) {
    for unreleased in [false, true] {
      for waiters in [false, true] {
        var schedule = Schedule()
        _ = schedule.join()
        schedule.begin(on: me)
        schedule.hasEnded = ended.source
        let front = foreign.map { Ticket(first: 1, last: 1, sender: $0 ? other : me) }

        let step = schedule.next(
          front: front, unreleased: unreleased, waiters: waiters, subscribers: !ended.all)

        let expected: Step =
          if unreleased { .release } else if waiters { .wake } else if front != nil {
            .deliver
          } else if ended.source, !ended.all { .finish } else { .rest }
        #expect(step == expected)
        #expect((schedule.deliverer == nil) == (step == .rest))
        #expect(schedule.isBetweenTurns == (step != .deliver))
      }
    }
  }

  @Test func `R24 a thread delivers 1,000 foreign updates, and its own without limit`() {
    var schedule = Schedule()
    _ = schedule.join()
    schedule.begin(on: me)
    let own = schedule.ticketForAll(from: me)
    let foreign = schedule.ticketForAll(from: other)

    var steps = (0..<1_000).flatMap { _ in [step(&schedule, own), step(&schedule, foreign)] }
    #expect(steps.allSatisfy { $0 == .deliver })
    steps = (0..<5_000).map { _ in step(&schedule, own) }
    #expect(steps.allSatisfy { $0 == .deliver })
    #expect(schedule.deliverer == me)

    #expect(step(&schedule, foreign) == .handOver)
    #expect(schedule.deliverer == nil)

    schedule.begin(on: other)
    #expect(step(&schedule, foreign) == .deliver)
  }

  private func step(_ schedule: inout Schedule, _ front: Ticket) -> Step {
    schedule.next(front: front, unreleased: false, waiters: false, subscribers: true)
  }
}

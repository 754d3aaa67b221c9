import MiniRex
import TestSupport
import Testing

/// Returns the publisher through a random path, which changes neither updates nor their order.
private func path(_ number: Int, _ one: Broadcaster<Piece>, _ other: Broadcaster<Piece>)
  -> Broadcaster<Piece>
{
  switch number % 8 {
  case 0: one
  case 1: one.map { $0 }.filter { _ in true }
  case 2: merge(one, other.filter { _ in false })
  case 3: one.share()
  case 6: one.inOneRun()
  case 4: Broadcaster.sequence([0]).flatMap(limit: 1) { _ in one }
  case 5: Broadcaster.sequence([0]).flatMapLatest { _ in merge(one, one.filter { _ in false }) }
  default: one.flatMap(limit: 4) { .sequence([$0]) }
  }
}

@Suite(.heavy, .serialized) struct BackpressureStormTests {
  @Test func `F2 F3 F7 F9 F10 senders, offers, broadcasts, and loops that come and go`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for round in 0..<scaled(10) {
        let existing = Shared(0)
        let count = 200
        do {
          let sources = (0..<2).map { _ in BroadcastSource<Piece>() }
          let shared =
            round % 2 == 0 ? sources[0].publisher.share() : sources[0].publisher.inOneRun()
          let loops = (0..<12).map { index in
            let publisher =
              index == 11 ? shared : path(index + round, sources[0].publisher, sources[1].publisher)
            let values = publisher.values(.suspending(1 + index % 5))
            return Task {
              var numbers: [Int] = []
              for await piece in values {
                numbers.append(piece.number)
                if index >= 8, numbers.count == 20 * (index - 7) { break }
              }
              values.invalidate()
              return numbers
            }
          }
          let accepted = Shared<[[Int]]>([[], [], [], []])
          // Two tasks suspend, one is canceled, and two threads do not suspend.
          let senders = (0..<3).map { sender in
            Task {
              for index in 0..<count {
                let number = sender * 1_000 + index
                do { try await sources[0].send(Piece(number, existing)) } catch { return }
                if sender < 2 { accepted.change { $0[sender].append(number) } }
              }
            }
          }
          let thread = Task {
            await onQueue {
              for index in 0..<count {
                let number = 3_000 + index
                if index % 4 == 0 {
                  sources[0].broadcast(Piece(number, existing))
                } else if !sources[0].offer(Piece(number, existing)) {
                  continue
                }
                accepted.change { $0[3].append(number) }
                sources[1].broadcast(Piece(number, existing))
              }
            }
          }
          loops[7].cancel()
          await Task.yield()
          senders[2].cancel()
          for sender in senders { await sender.finished() }
          await thread.finished()
          for source in sources { source.end() }
          for (index, loop) in loops.enumerated() {
            let numbers = await loop.finished()
            let isWhole = index < 7 || index == 11 && numbers.count < 80
            for sender in 0..<4 {
              let own = numbers.filter { $0 / 1_000 == sender }
              precondition(own == own.sorted(), "F3 out of order")
              if sender == 2 { continue }
              let sent = accepted.value[sender]
              precondition(own == Array(sent.prefix(own.count)), "F3 lost or repeated")
              if isWhole { precondition(own == sent, "F3 the last ones are lost") }
            }
          }
          precondition(sources[0].slowSubscribers.isEmpty, "F9 a canceled loop stalls its senders")
        }
        await until { existing.value == 0 }
        precondition(existing.value == 0, "F9 an update is retained")
      }
    }
  }

  @Test func `F3 F9 timeouts, works, and cancellations race`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for round in 0..<scaled(100) {
        let sent = Shared(0)
        let ended = Shared(0)
        let work = Broadcaster<Int> { send in
          defer { ended.increment() }
          for number in 0..<50 {
            try await send(number)
            sent.increment()
          }
        }
        let publishers = [work, work.share(), work.map { $0 }]
        let values = (0..<6).map { index in
          publishers[(index + round) % 3].values(
            .suspending(1 + index, timeout: index == 0 ? .microseconds(50) : .seconds(60)))
        }
        let loops = values.enumerated().map { index, values in
          Task {
            var numbers: [Int] = []
            for await number in values {
              numbers.append(number)
              if index == 0 { try? await Task.sleep(for: .microseconds(100)) }
            }
            return numbers
          }
        }
        loops[1].cancel()
        for (index, loop) in loops.enumerated() {
          let numbers = await loop.finished()
          if index == 1 { continue }
          precondition(
            numbers == Array((numbers.first ?? 0)..<((numbers.first ?? 0) + numbers.count)))
          if index > 1, values[index].hasTimedOut { preconditionFailure("F13 too early") }
        }
        for values in values { values.invalidate() }
      }
    }
  }

  /// `MINIREX_SCALE=100` sends 20,000 updates, 20 million deliveries.
  @Test func `F3 1,000 slow readers lose nothing, with flat memory`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let (source, existing) = (BroadcastSource<Piece>(), Shared(0))
      let count = scaled(200)
      let limit = 8
      let readers = (0..<1_000).map { index in
        let values = source.publisher.values(.suspending(limit))
        return Task {
          var next = 0
          for await piece in values {
            precondition(piece.number == next, "F3 lost, repeated, or out of order")
            next += 1
            // Each reader is slow at other updates.
            if (next + index) % 16 == 0 { await Task.yield() }
          }
          return next
        }
      }
      var most = 0
      var early = 0
      for number in 0..<count {
        try? await source.send(Piece(number, existing))
        most = max(most, existing.value)
        if number == count / 10 { early = peakMemory() ?? 0 }
      }
      let growth = (peakMemory() ?? 0) - early
      source.end()
      for reader in readers {
        let received = await reader.finished()
        precondition(received == count, "F3 lost \(count - received)")
      }
      precondition(most <= limit + 2, "F3 \(most) updates exist")
      // Retained updates would take 64 bytes each, and buffered ones 1,000 times 8.
      precondition(growth < max(8 << 20, count * 512), "F3 \(growth) bytes of growth")
    }
  }
}

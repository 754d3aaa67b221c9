import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Reducers that depend on more than the state and the action.
@Suite(.light)
struct DivergenceTests {
  private struct Words: Codable, Equatable, Sendable {
    var words: [String] = []
    var set: Set<String> = []
  }

  private func make(
    _ link: MemoryLog.Link, as name: String?, verifies: Bool = true
  ) throws -> Replica<Words, String> {
    try Replica(Words(), of: link, verifies: verifies, retryAfter: .seconds(600)) { state, word in
      state.words.append(word + (name ?? ""))
      state.set.insert(word)
      return .none
    }
  }

  private func settle(
    _ link: MemoryLog.Link, _ replica: Replica<Words, String>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    // The send is in the progress afterward.
    await replica.processed()
    await until(sourceLocation: sourceLocation) {
      link.acceptAll()
      link.deliverNext(.max)
      let progress = replica.progress.current()
      return progress?.phase == .stopped
        || progress?.pending == 0 && link.undelivered == 0 && link.inFlightCount == 0
          && progress?.sequence == link.position
    }
  }

  @Test(arguments: [false, true])
  func `O18 a diverging reducer is found`(_ isLate: Bool) async throws {
    let log = MemoryLog(snapshotEvery: 10, keeping: 100)
    let (link, other) = (log.manualLink(), log.manualLink(isCut: isLate))
    let replica = try make(link, as: nil)
    // Its state depends on the process.
    let diverging = try make(other, as: " there")
    for number in 1...10 {
      replica.send("\(number)")
      await settle(link, replica)
      if !isLate { await settle(other, diverging) }
    }
    await until { log.snapshotCount == 1 }

    other.connect()
    await until {
      other.deliverNext(.max)
      return diverging.progress.current()?.phase == .stopped
    }

    #expect(diverging.progress.current()?.trouble == .diverged(at: 10))
    #expect(replica.progress.current()?.phase == .current)
    await replica.close()
  }

  /// Its sender decides it as it was sent.
  private struct Lossy: Codable, Sendable {
    let number: Int
    var extra = 0

    private enum CodingKeys: CodingKey { case number }
  }

  @Test func `O18 an action whose coding loses a value is found`() async throws {
    let log = MemoryLog(snapshotEvery: 10, keeping: 100)
    func make() throws -> Replica<Int, Lossy> {
      try Replica(0, of: log.link(), verifies: true, retryAfter: .seconds(600)) { state, action in
        state += action.number + action.extra
        return .none
      }
    }
    let (replica, other) = (try make(), try make())
    for number in 1...20 { replica.send(Lossy(number: number, extra: 1)) }
    try await replica.flush()

    await until { other.progress.current()?.phase == .stopped }
    guard case .diverged? = other.progress.current()?.trouble else {
      Issue.record("\(String(describing: other.progress.current()))")
      return
    }
    await replica.close()
  }

  @Test func `O18 equal states whose encodings differ do not stop a replica`() async throws {
    let log = MemoryLog(snapshotEvery: 40, keeping: 100)
    let (link, other) = (log.manualLink(), log.manualLink())
    let replicas = [try make(link, as: nil), try make(other, as: nil)]
    for number in 1...200 {
      replicas[number % 2].send("\(number)")
      await settle(number % 2 == 0 ? link : other, replicas[number % 2])
      await until { log.snapshotCount == number / 40 }
    }
    await settle(link, replicas[0])
    await settle(other, replicas[1])
    for replica in replicas { await replica.processed() }

    #expect(replicas.allSatisfy { $0.progress.current()?.trouble == nil })
    #expect(replicas[0].store.state == replicas[1].store.state)
    for replica in replicas { await replica.close() }
  }

  @Test func `O18 a replica that does not verify continues`() async throws {
    let log = MemoryLog(snapshotEvery: 5, keeping: 100)
    let (link, other) = (log.manualLink(), log.manualLink())
    let replica = try make(link, as: nil)
    let diverging = try make(other, as: " there", verifies: false)
    for number in 1...10 {
      replica.send("\(number)")
      await settle(link, replica)
      await until { log.snapshotCount == number / 5 }
      await settle(other, diverging)
    }
    #expect(diverging.progress.current()?.phase == .current)
    await replica.close()
    await diverging.close()
  }
}

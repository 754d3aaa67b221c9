import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Random partitions, refusals, lost answers, late arrivals, kills, and logs that are restored from a backup.
///
/// `MINIREX_SCALE` scales the schedules, and `MINIREX_SEED` repeats one of them.
@Suite(.light)
struct ConvergenceSearch {
  @Test func `O1 replicas that read the same entries have the same state`() async throws {
    let first = ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap { UInt64($0) }
    let last = first ?? UInt64(max(20, 40 * scale))
    let seeds = Shared(Array(((first ?? 1)...last).reversed()))
    // A schedule waits most of the time, for replicas that send again.
    await withTaskGroup { group in
      for _ in 0..<32 {
        group.addTask {
          while !Task.isCancelled, let seed = seeds.change({ $0.popLast() }) {
            await #expect(throws: Never.self, "MINIREX_SEED=\(seed)") {
              try await Schedule(seed: seed).run()
            }
          }
        }
      }
    }
  }
}

/// One process, which can be killed and started again.
private final class Member {
  let name: String
  private(set) var folder: Folder?
  private(set) var link: MemoryLog.Link
  private(set) var replica: Replica<Board, BoardAction>
  private(set) var words: [String] = []
  private let log: MemoryLog
  private(set) var earlierLinks: [MemoryLog.Link] = []
  private let troubles = Shared([ReplicaTrouble]())

  /// The state, and what led to it, for a failure.
  var description: String {
    "\(name): \(replica.store.state), \(replica.progress.current().map { "\($0)" } ?? "-"), \(troubles.value)"
  }

  init(_ name: String, _ log: MemoryLog, isDurable: Bool) throws {
    (self.name, self.log) = (name, log)
    folder = isDurable ? try Folder() : nil
    link = log.manualLink()
    replica = try makeReplica(
      link, keptIn: folder?.url.path, retryAfter: .milliseconds(20))
    noteTroubles()
  }

  private func noteTroubles() {
    replica.troubles.subscribe { [troubles] trouble in troubles.change { $0.append(trouble) } }
      .detached()
  }

  func send(claiming id: String?) {
    if let id {
      replica.send(.claimed(id, by: name))
    } else {
      words.append("\(name).\(words.count)")
      replica.send(.said(words[words.count - 1]))
    }
  }

  /// Continues with the files as they are at this moment.
  func kill() async throws {
    link.cut()
    earlierLinks.append(link)
    let copy = try folder.map { old in
      let copy = try Folder()
      // The state's next file may be renamed concurrently. The state is copied first: the copies must not have a state that is
      // newer than the pending actions.
      for name in old.names.reversed() where name != "state.new" {
        try Data(contentsOf: old.file(name)).write(to: copy.file(name))
      }
      return copy
    }
    await replica.close()
    if copy == nil { words = [] }
    folder = copy
    link = log.manualLink()
    replica = try makeReplica(link, keptIn: copy?.url.path, retryAfter: .milliseconds(20))
    noteTroubles()
  }
}

private struct Schedule {
  private let seed: UInt64
  private var random: SeededGenerator
  private let log: MemoryLog
  private let members: [Member]
  /// A Boolean value that indicates whether the log is restored from a backup.
  private let rolls: Bool

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    let compacts = Int.random(in: 0..<10, using: &random) < 5
    log = MemoryLog(
      snapshotEvery: compacts ? Int.random(in: 2...20, using: &random) : 0,
      keeping: Int.random(in: 0...8, using: &random))
    let count = Int.random(in: 2...4, using: &random)
    var members: [Member] = []
    for index in 0..<count {
      let isDurable = Int.random(in: 0..<10, using: &random) < 7
      members.append(try Member("m\(index)", log, isDurable: isDurable))
    }
    self.members = members
    rolls = Int.random(in: 0..<10, using: &random) < 3
  }

  func run() async throws {
    var random = random
    var hasBackup = false
    var isRolled = false
    for _ in 0..<Int.random(in: 30...120, using: &random) {
      let member = members[Int.random(in: 0..<members.count, using: &random)]
      switch Int.random(in: 0..<100, using: &random) {
      case ..<30: member.send(claiming: nil)
      case ..<35: member.send(claiming: "job \(Int.random(in: 0..<5, using: &random))")
      case ..<50: member.link.acceptNext(losesAnswer: Bool.random(using: &random))
      case ..<54: member.link.refuseNext()
      case ..<76: member.link.deliverNext(Int.random(in: 1...6, using: &random))
      case ..<81: member.link.cut()
      case ..<87: member.link.connect()
      case ..<91: for link in member.earlierLinks + [member.link] { link.acceptLate() }
      case ..<94: try await member.kill()
      case ..<95 where rolls:
        log.backUp()
        hasBackup = true
      case ..<97 where rolls && hasBackup:
        for link in members.flatMap({ $0.earlierLinks + [$0.link] }) { link.cut() }
        log.restore()
        isRolled = true
      default: await member.replica.processed()
      }
    }
    await heal()
    check(isRolled: isRolled)
    for member in members { await member.replica.close() }
  }

  /// Ends all faults, and returns when nothing is pending and each replica has read the log.
  private func heal() async {
    for member in members {
      member.link.connect()
      for link in member.earlierLinks + [member.link] { for _ in 0..<200 { link.acceptLate() } }
    }
    // The sends are in the progress afterward.
    for member in members { await member.replica.processed() }
    await until {
      for member in members {
        member.link.acceptAll()
        member.link.deliverNext(.max)
      }
      return members.allSatisfy { member in
        let progress = member.replica.progress.current()
        return member.link.inFlightCount == 0 && progress?.pending == 0
          && progress?.phase == .current && progress?.sequence == log.last
      }
    }
  }

  private func check(isRolled: Bool) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let states = members.map { try? encoder.encode($0.replica.store.state) }
    #expect(
      Set(states).count == 1,
      """
      MINIREX_SEED=\(seed), \(isRolled ? "restored" : "not restored"), sequences \(log.first)...\(log.last)
      \(members.map(\.description).joined(separator: "\n"))
      """)
    for member in members {
      #expect(member.replica.confirmed.current() == member.replica.store.state)
      let words = member.replica.store.words.filter { $0.hasPrefix(member.name + ".") }
      #expect(Set(words).count == words.count || member.folder == nil)
      // A backup has lost the actions after it.
      if isRolled { continue }
      // Nothing is lost, doubled, or reordered.
      if member.folder != nil { #expect(words == member.words) }
      if member.earlierLinks.isEmpty { #expect(words == member.words) }
    }
  }
}

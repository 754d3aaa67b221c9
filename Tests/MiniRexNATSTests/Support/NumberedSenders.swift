#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Replicas in this process that send numbered actions without waiting, while their log suffers.
final class NumberedSenders: Sendable {
  /// A replica, the numbers that it has sent, and the answers.
  final class Sender: Sendable {
    let name: String
    let replica: LedgerReplica
    let count = Shared(0)
    let confirmed = Shared<[(number: Int, sequence: UInt64)]>([])
    let failures = Shared<[String]>([])
    private let bag = SubscriptionBag()

    init(_ name: String, _ replica: LedgerReplica) { (self.name, self.replica) = (name, replica) }

    var pendingCount: Int { count.value - confirmed.value.count - failures.value.count }

    fileprivate func send() {
      let number = count.increment()
      replica.send(.noted("\(name) \(number)")).subscribe { [confirmed, failures] result in
        switch result {
        case .success(let decision): confirmed.append((number, decision.sequence))
        case .failure(let error): failures.append("\(number): \(error)")
        }
      }.store(in: bag)
    }
  }

  let senders: [Sender]
  private let log: NATSLog
  private let isOver = Shared(false)
  private let sending = Shared<Task<Void, Never>?>(nil)
  private let troubles: [Recorder<ReplicaTrouble>]

  /// - Parameters:
  ///   - logs: The log of each replica, over its connection.
  ///   - log: The same log, over a connection without faults.
  init(over logs: [NATSLog], checkedBy log: NATSLog) throws {
    senders = try zip(["a", "b", "c", "d"], logs).map { name, log in
      Sender(name, try LedgerReplica.make(log))
    }
    self.log = log
    troubles = senders.map { Recorder($0.replica.troubles) }
  }

  /// The number of pending actions at which a replica stops sending.
  ///
  /// It is below the limit of a replica, which refuses further actions. Otherwise the backlog would grow with the length
  /// of an election, which takes minutes on a busy machine.
  private static let backlog = 1_000

  /// Sends until `heal` is called last.
  func begin() {
    sending.value = Task { [senders, isOver] in
      while !isOver.value, !Task.isCancelled {
        for sender in senders where sender.pendingCount < Self.backlog {
          for _ in 0..<3 { sender.send() }
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Returns the time until every replica has confirmed further actions, in spite of a fault that lasts.
  func progress() async -> Duration {
    let began = ContinuousClock.now
    let goals = senders.map { $0.count.value + 1 }
    await until { zip(senders, goals).allSatisfy { $0.confirmed.value.count >= $1 } }
    return ContinuousClock.now - began
  }

  /// Ends the sending, and returns the time until all replicas agree about all actions.
  func heal() async -> Duration {
    let began = ContinuousClock.now
    isOver.value = true
    await sending.value?.value
    await until {
      senders.allSatisfy { $0.pendingCount == 0 }
    }
    let total = senders.map { $0.count.value }.reduce(0, +)
    await until { senders.allSatisfy { $0.replica.store.state.lines.count >= total } }
    return ContinuousClock.now - began
  }

  /// Checks that nothing is lost, doubled, or reordered, in the replicas and in the log.
  func check() async throws {
    let late = try LedgerReplica.make(log)
    let text = senders[0].replica.store.state.text
    await until { late.store.state.lines.count == senders[0].replica.store.state.lines.count }
    #expect(late.store.state.text == text)
    for sender in senders {
      #expect(sender.failures.value == [])
      #expect(sender.replica.store.state.text == text)
      #expect(sender.replica.confirmed.current()?.text == text)
      #expect(sender.replica.progress.current()?.pending == 0)
      let lines = late.store.state.lines.filter { $0.hasPrefix("noted \(sender.name) ") }
      #expect(lines == (1...sender.count.value).map { "noted \(sender.name) \($0)" })
      let confirmed = sender.confirmed.value
      #expect(confirmed.map(\.number) == Array(1...sender.count.value))
      let sequences = confirmed.map(\.sequence)
      #expect(sequences == sequences.sorted())
    }
    // A snapshot that a server does not take is written again later.
    let others = troubles.flatMap(\.updates)
      .filter { if case .snapshot = $0 { false } else { true } }
    #expect(others == [])
    await late.close()
    for sender in senders { await sender.replica.close() }
  }
}
#endif

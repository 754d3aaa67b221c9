import Foundation
import MiniRex
import MiniRexReplica
import MiniRexStore
import TestSupport

/// The effects that have started, in their order.
final class EffectRecord: Sendable {
  private let started = Shared<[Int]>([])

  var numbers: [Int] { started.value }

  /// The numbers of the effects that have started twice.
  var repeated: [Int] {
    Dictionary(grouping: numbers) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
  }

  func add(_ number: Int) { started.change { $0.append(number) } }
}

/// Creates a replica whose actions `moved` have an effect, which starts synchronously.
func makeReplica(
  _ log: any ReplicaLog, keptIn folder: String?, durability: ReplicaDurability = .written,
  retryAfter interval: Duration = .milliseconds(20),
  starting start: @escaping @Sendable (Int) -> Void
) throws -> Replica<Board, BoardAction> {
  try Replica(
    Board(), of: log, keptIn: folder, durability: durability, pendingLimit: 1_000_000,
    retryAfter: interval,
    reducer: { board, action in
      let effect = reduce(&board, action)
      guard case .moved(let number) = action else { return effect }
      return .publisher {
        start(number)
        return Broadcaster<BoardAction> { _ in .ended }
      }
    }, validating: validate)
}

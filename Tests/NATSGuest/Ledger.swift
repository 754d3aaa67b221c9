#if NATS
import Foundation
import MiniRexReplica
import MiniRexStore

/// A replicated state that depends on the order of its actions.
struct Ledger: Codable, Sendable, Equatable {
  var lines: [String] = []
  var total = 0.0
}

enum LedgerAction: Codable, Sendable {
  case entered(Double, by: String)
  /// An action sent by an effect.
  case noted(String)
}

/// Every tenth amount starts an effect that sends a note.
func reduce(_ ledger: inout Ledger, _ action: LedgerAction) -> Effect<LedgerAction> {
  switch action {
  case .entered(let amount, let name):
    ledger.lines.append("\(name) \(amount)")
    // Another order yields another sum.
    ledger.total = ledger.total / 3 + amount
    if amount.truncatingRemainder(dividingBy: 10) != 0 { return .none }
    return .run { send in send(.noted("\(name) \(amount)")) }
  case .noted(let text):
    ledger.lines.append("noted \(text)")
    return .none
  }
}

extension Ledger {
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}

typealias LedgerReplica = Replica<Ledger, LedgerAction>
#endif

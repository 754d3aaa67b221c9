import Foundation
import MiniRexNATSStore
import MiniRexStore

/// A state in which the order of actions shows, kept by replicas.
struct Ledger: Codable, Sendable, Equatable {
  var lines: [String] = []
  var total = 0.0
}

enum LedgerAction: Codable, Sendable {
  case entered(Double, by: String)
  /// What an effect has sent.
  case noted(String)
}

/// Each tenth amount is noted by an effect.
func reduce(_ ledger: inout Ledger, _ action: LedgerAction) -> Effect<LedgerAction> {
  switch action {
  case .entered(let amount, let name):
    ledger.lines.append("\(name) \(amount)")
    // Another order makes another sum.
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

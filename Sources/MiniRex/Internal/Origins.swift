/// The sources in whose turns the inputs of a combination change.
///
/// Tokens tell them when they are asked, so that subscribing costs nothing for it.
struct Origins {
  /// Where the turns of several inputs meet.
  private(set) var shared: [AnyDelivery] = []
  /// Who asks, and wants to hear of it when an input follows from another source.
  let combination: Combination
  private var sources: [(source: AnyDelivery, input: Int)] = []
  private var input = 0

  init(of combination: Combination) {
    self.combination = combination
    for token in combination.inputs {
      token.host.tellOrigins(to: &self)
      input += 1
    }
  }

  /// - Returns: False if this input has told it before.
  mutating func add(_ source: AnyDelivery) -> Bool {
    guard let index = sources.firstIndex(where: { $0.source === source }) else {
      sources.append((source, input))
      return true
    }
    if sources[index].input == input { return false }
    sources[index].input = input
    if !shared.contains(where: { $0 === source }) { shared.append(source) }
    return true
  }
}

/// A token that somebody else keeps.
final class WeakToken: Sendable {
  weak let token: Subscription?

  /// The one token that is never released would keep what a weak reference needs for ever.
  init(_ token: Subscription) {
    self.token = token === Subscription.ended ? nil : token
  }
}

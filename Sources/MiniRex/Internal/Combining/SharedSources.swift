/// The sources in whose turns the inputs of a combination change.
///
/// Subscriptions report them on request, so that subscribing itself stays free of cost.
struct SharedSources {
  /// The sources that several inputs share.
  private(set) var shared: [AnyDelivery] = []
  /// The combination, which must know when an input moves to another source.
  let combination: Combination
  /// The combinations on the paths from the sources to the inputs.
  private(set) var combinations: [Combination] = []
  private var sources: [(source: AnyDelivery, input: Int)] = []
  private var indices: [ObjectIdentifier: Int] = [:]
  private var input = 0

  /// All sources of the inputs.
  var all: [AnyDelivery] { sources.map(\.source) }

  init(of combination: Combination) {
    self.combination = combination
    for token in combination.inputs {
      token.host.collectSources(into: &self)
      input += 1
    }
  }

  /// Adds a source of the current input.
  ///
  /// It is shared if an earlier input has reported it.
  ///
  /// - Returns: `false` if this input has already reported the source.
  mutating func add(_ source: AnyDelivery) -> Bool {
    guard let index = index(of: source) else {
      // A computed value may have very many sources, another combination has few.
      if sources.count == 16 {
        for (index, entry) in sources.enumerated() {
          indices[ObjectIdentifier(entry.source)] = index
        }
      }
      if sources.count >= 16 { indices[ObjectIdentifier(source)] = sources.count }
      sources.append((source, input))
      return true
    }
    if sources[index].input == input { return false }
    sources[index].input = input
    if !shared.contains(where: { $0 === source }) { shared.append(source) }
    return true
  }

  mutating func add(_ combination: Combination) {
    combinations.append(combination)
  }

  private func index(of source: AnyDelivery) -> Int? {
    if sources.count > 16 { return indices[ObjectIdentifier(source)] }
    return sources.firstIndex { $0.source === source }
  }
}

/// A weak reference to a subscription.
final class WeakToken: Sendable {
  weak let token: Subscription?

  /// Creates a reference, or an empty one for `Subscription.ended`.
  ///
  /// That subscription is never released, so a weak reference to it would leak its side table.
  init(_ token: Subscription) {
    self.token = token === Subscription.ended ? nil : token
  }
}

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The states that replaying a file has returned, before a line was written to it.
///
/// A store that begins with such a state continues the file. A reducer that reads the outside world returns several.
struct ReplayedStates {
  private let generation: Int
  /// Hashes of the JSON, because a state can be large.
  private var hashes: Set<Int> = []

  init(at generation: Int) { self.generation = generation }

  mutating func insert(_ state: Data, at generation: Int) {
    if generation != self.generation { self = Self(at: generation) }
    hashes.insert(hash(state))
  }

  func contains(_ state: Data, at generation: Int) -> Bool {
    generation == self.generation && hashes.contains(hash(state))
  }
}

/// Not `hashValue`, which covers the first 80 bytes.
private func hash(_ state: Data) -> Int {
  var hasher = Hasher()
  unsafe state.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  return hasher.finalize()
}

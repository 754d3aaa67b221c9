#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The states that replaying a file up to one length has returned.
///
/// A store that begins with such a state continues the file. A reducer that reads the outside world returns several.
struct ReplayedStates {
  private let length: Int
  /// Hashes of the JSON, because a state can be large.
  private var hashes: Set<Int> = []

  init(atLength length: Int) { self.length = length }

  mutating func insert(_ state: Data, atLength length: Int) {
    if length != self.length { self = Self(atLength: length) }
    hashes.insert(hash(state))
  }

  func contains(_ state: Data, atLength length: Int) -> Bool {
    length == self.length && hashes.contains(hash(state))
  }
}

/// Not `hashValue`, which covers the first 80 bytes.
private func hash(_ state: Data) -> Int {
  var hasher = Hasher()
  unsafe state.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  return hasher.finalize()
}

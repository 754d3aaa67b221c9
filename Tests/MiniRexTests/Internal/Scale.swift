import Foundation

/// How thorough the tests are: `MINIREX_SCALE`, which is 1 unless the environment says otherwise.
enum Scale {
  static let value: Double = {
    let text = ProcessInfo.processInfo.environment["MINIREX_SCALE"]
    return text.flatMap(Double.init) ?? 1
  }()

  /// So many rounds, or fewer or more.
  static func rounds(_ count: Int) -> Int {
    max(1, Int(Double(count) * value))
  }
}

import Foundation
import TestSupport
import Testing

/// Many rounds of each adapter, one soak after another.
///
/// `Scripts/soak` enables them.
@Suite(.heavy(minutes: 120), .serialized, .enabled(if: Soak.length != nil)) struct Soaks {}

/// One round of a soak.
struct Round {
  let number: Int
  /// The folder of the round, empty at first.
  ///
  /// No hidden file may be left in it at the end.
  let folder: Folder
  var random: SeededGenerator
}

/// The length of each soak: `MINIREX_SOAK` is a number of rounds such as `20000`, a duration such
/// as `10s`, or `full` for the length that each soak defines.
///
/// `MINIREX_SEED` repeats a failure, except for the timing of threads.
enum Soak {
  enum Length: Sendable {
    case rounds(Int)
    case seconds(Double)
    case full
  }

  static let length: Length? = {
    guard let text = ProcessInfo.processInfo.environment["MINIREX_SOAK"] else { return nil }
    if let rounds = Int(text) { return .rounds(rounds) }
    if text.last == "s", let seconds = Double(text.dropLast()) { return .seconds(seconds) }
    return .full
  }()

  private static let seed =
    ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  /// The platform opens some files and starts some threads on first use.
  private static let roundsUntilWarm = 100

  /// Runs the body for the given number of rounds, and expects no leaked resource.
  ///
  /// - Parameter full: The number of rounds of a full soak.
  /// - Parameter atATime: The number of concurrent rounds.
  static func run(
    _ full: Int, atATime: Int = 1, _ body: @escaping @Sendable (inout Round) async throws -> Void
  ) async throws {
    let folder = try Folder()
    let counter = Shared(0)
    let rounds = { @Sendable (isDue: @escaping @Sendable (_ done: Int) -> Bool) in
      try await withThrowingTaskGroup { group in
        for _ in 0..<atATime {
          group.addTask {
            while !Task.isCancelled, isDue(counter.value) {
              let number = counter.increment() - 1
              let random = SeededGenerator(seed: seed &+ UInt64(number))
              var round = Round(number: number, folder: folder, random: random)
              try await body(&round)
            }
          }
        }
        try await group.waitForAll()
      }
    }
    try await rounds { $0 < roundsUntilWarm }
    try await Task.sleep(for: .milliseconds(1))
    let before = Belongings(in: folder)

    let began = ContinuousClock.now
    switch length {
    case .rounds(let count): try await rounds { $0 < count }
    case .seconds(let seconds): try await rounds { _ in .now < began + .seconds(seconds) }
    case .full, nil: try await rounds { $0 < full }
    }
    let time = ContinuousClock.now - began

    let after = await Belongings.settled(in: folder, within: before)
    #expect(after.fits(before), "MINIREX_SEED=\(seed)")
    print("Soak of \(name): \(counter.value) rounds in \(time)")
    print("  before: \(before)")
    print("  after:  \(after)")
  }

  private static var name: String {
    (Test.current?.name ?? "").filter { $0 != "`" && $0 != "(" && $0 != ")" }
  }
}

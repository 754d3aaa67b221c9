import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

extension Soaks {
  /// A third of the watchers stays until its folder vanishes.
  ///
  /// The other watchers cancel at some instant.
  @Test func `folder changes with folders that appear, change, and vanish`() async throws {
    try await Soak.run(5_000, atATime: 4) { round in
      let folder = round.folder
      let name = "folder-\(round.number)"
      try folder.make(name)
      let changes = Recorder(folder.file(name).changes())
      #expect(changes.isSubscribed)

      for number in 0..<Int.random(in: 1...4, using: &round.random) {
        try folder.write("\(number)", to: "\(name)/file-\(number)")
      }
      let leavesEarly = Int.random(in: 0..<3, using: &round.random)
      if leavesEarly == 1 { _ = await changes.next() }
      if leavesEarly > 0 { changes.invalidate() }
      try FileManager.default.removeItem(at: folder.file(name))

      if leavesEarly == 0 {
        while !(await changes.next()).isEmpty {}
        let names = changes.updates.compactMap { try? $0.get().name }
        #expect(names.contains("file-0"))
        #expect(changes.hasEnded)
      }
    }
  }
}

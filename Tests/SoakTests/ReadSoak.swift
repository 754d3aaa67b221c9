import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import TestSupport
import Testing

extension Soaks {
  @Test func `reads from pipes that close at a random instant`() async throws {
    try await Soak.run(20_000, atATime: 8) { round in
      var ends: [Int32] = [-1, -1]
      try #require(unsafe pipe(&ends) == 0)
      let (reading, writing) = (ends[0], ends[1])
      let isLeft = Bool.random(using: &round.random)
      let instants = (0..<2).map { _ in UInt32.random(in: 0..<500, using: &round.random) }
      let recorder = Recorder(DispatchSource.reads(from: reading))

      async let closing: Void = onQueue {
        unsafe write(writing, "abc", 3)
        usleep(instants[0])
        close(writing)
      }
      if isLeft {
        try await Task.sleep(for: .microseconds(Int(instants[1])))
        recorder.invalidate()
      } else {
        let bytes = try await recorder.next(.max).reduce(into: Data()) { $0 += try $1.get() }
        #expect(bytes == Data("abc".utf8))
        #expect(recorder.hasEnded)
      }
      await closing
      close(reading)
    }
  }
}

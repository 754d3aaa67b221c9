#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// `MINIREX_SCALE=50` sends a million messages.
@Suite(.heavy)
struct RestartTests {
  @Test func `N8 messages arrive once and in order through three restarts of the server`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let (writing, reading) = (NATSConnection(server.url), NATSConnection(server.url))
    let stream = writing.stream("board")
    #expect(await stream.create().hasSucceeded())
    let count = max(4_000, scaled(20_000))
    let read = Shared(ConsumerState())
    let token = reading.stream("board").broadcaster(of: Int.self, from: .beginning).subscribe {
      message in read.change { $0.take(message) }
    }
    let began = ContinuousClock.now

    async let writer = stream.appendNumbers(count)
    for round in 1...3 {
      await until { read.value.count > round * count / 4 || read.value.wrong != nil }
      await server.stop()
      try await server.start()
    }
    let written = await writer
    await until { read.value.count >= count || read.value.wrong != nil }

    let took = ContinuousClock.now - began
    #expect(read.value.wrong == nil)
    #expect(read.value.count == count)
    #expect(written.acknowledged + written.found == count)
    #expect(written.lost == nil)
    // The stream has no further message.
    #expect(await stream.append(0, expecting: UInt64(count)).result == .success(UInt64(count) + 1))
    print("\(count) messages in \(took), \(written.found) of them with answers that were lost")
    withExtendedLifetime(token) {}
    await writing.close()
    await reading.close()
  }
}

/// The messages received in order: the number of each message is its sequence.
private struct ConsumerState {
  var count = 0
  var wrong: String?

  mutating func take(_ message: NATSStreamMessage<Int>) {
    if wrong != nil { return }
    count += 1
    let isNext = message.sequence == UInt64(count) && message.payload == count
    if !isNext || message.missing != nil { wrong = "\(message) after \(count - 1)" }
  }
}

private struct Written {
  var acknowledged = 0
  /// The number of messages in the stream whose answers were lost.
  var found = 0
  /// The last sequence of the stream, if it is before an acknowledged message.
  var lost: UInt64?
}

extension NATSStream {
  /// Appends the numbers from 1, each once.
  ///
  /// After a failure it continues at the end of the stream.
  fileprivate func appendNumbers(_ count: Int) async -> Written {
    var (written, last) = (Written(), 0)
    while last < count, written.lost == nil, !Task.isCancelled {
      let numbers = last + 1...min(count, last + 1_000)
      let results = numbers.map { Recorder(append($0, expecting: UInt64($0 - 1))) }
      let before = last
      var acknowledged = 0
      for result in results {
        switch await result.next().first {
        case .success(let sequence)?:
          acknowledged += 1
          last = max(last, Int(sequence))
        case .failure(.revision(let now?))?:
          if now < before { written.lost = now }
          last = max(last, Int(now))
        default: break
        }
      }
      written.acknowledged += acknowledged
      written.found += last - before - acknowledged
      if last == before { try? await Task.sleep(for: .milliseconds(10)) }
    }
    return written
  }
}
#endif

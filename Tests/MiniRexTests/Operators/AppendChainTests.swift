import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The way in which a chain of publishers is appended.
private enum Form: String, CaseIterable, Codable, CustomTestStringConvertible {
  /// `a.append(b).append(c)`.
  case left
  /// `a.append(b.append(c))`.
  case right
  /// A tree of both.
  case balanced

  var testDescription: String { rawValue }

  func append(_ publishers: [Broadcaster<Int>]) -> Broadcaster<Int> {
    switch self {
    case .left:
      return publishers.dropFirst().reduce(publishers[0]) { $0.append($1) }
    case .right:
      return publishers.dropLast().reversed().reduce(publishers[publishers.count - 1]) {
        $1.append($0)
      }
    case .balanced:
      var level = publishers
      while level.count > 1 {
        level = stride(from: 0, to: level.count, by: 2).map {
          $0 + 1 < level.count ? level[$0].append(level[$0 + 1]) : level[$0]
        }
      }
      return level[0]
    }
  }
}

@Suite(.light) struct AppendChainTests {
  @Test(arguments: Form.allCases)
  private func `R26 a chain of 10,000 appended publishers finishes on 512 KiB of stack`(
    form: Form
  ) async {
    await #expect(processExitsWith: .success) { [form] in
      mustEnd()
      onThread(stackSize: 512 * 1_024) {
        let count = chainSteps(overflowingDepth)
        let received = Shared(0)
        let hasEnded = Shared(false)
        let chain = form.append((0..<count).map { .sequence([$0]) })
        let subscription = chain.subscribe { number in
          precondition(number == received.value)
          received.increment()
        } onEnd: {
          hasEnded.value = true
        }
        precondition(received.value == count && hasEnded.value)
        withExtendedLifetime(subscription) {}
      }
    }
  }

  @Test(arguments: Form.allCases)
  private func `R26 a chain of 10,000 appended sources is delivered on 512 KiB of stack`(
    form: Form
  ) async {
    await #expect(processExitsWith: .success) { [form] in
      mustEnd()
      onThread(stackSize: 512 * 1_024) {
        let sources = (0..<chainSteps(overflowingDepth)).map { _ in BroadcastSource<Int>() }
        let received = Shared(0)
        let chain = form.append(sources.map(\.publisher))
        let whole = chain.subscribe { _ in received.increment() }
        let half = chain.subscribe { _ in received.increment() }
        for (number, source) in sources.enumerated() {
          source.broadcast(number)
          if number == sources.count / 2 { half.invalidate() }
          source.end()
        }
        precondition(received.value == sources.count + sources.count / 2 + 1)
        precondition(!whole.isSubscribed && !half.isSubscribed)
        precondition(sources.allSatisfy { $0.subscriberCount == 0 })
      }
    }
  }

  @Test(arguments: Form.allCases)
  private func `R11 a chain of 10,000 appended publishers is released on 512 KiB of stack`(
    form: Form
  ) async {
    await #expect(processExitsWith: .success) { [form] in
      mustEnd()
      onThread(stackSize: 512 * 1_024) {
        let source = BroadcastSource<Int>()
        let rest = (1..<chainSteps(overflowingDepth)).map { Broadcaster<Int>.sequence([$0]) }
        var chain = Optional(form.append([source.publisher] + rest))
        var subscription = chain?.subscribe { _ in }
        precondition(source.subscriberCount == 1)
        subscription = nil
        precondition(subscription == nil && source.subscriberCount == 0)
        chain = nil
        precondition(chain == nil)
      }
    }
  }
}

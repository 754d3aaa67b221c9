package import MiniRex
package import MiniRexTesting
import Testing

/// A named publisher of any kind that emits the numbers of its driver.
package struct LawSubject: Sendable, CustomTestStringConvertible {
  package let testDescription: String
  package let make: @Sendable () -> PublisherUnderTest

  package init(_ name: String, _ make: @escaping @Sendable () -> PublisherUnderTest) {
    testDescription = name
    self.make = make
  }

  package static func stream(
    _ name: String, _ apply: @escaping @Sendable (Broadcaster<Int>) -> Broadcaster<Int>
  ) -> LawSubject {
    LawSubject(name) {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(apply(source.publisher), drivenBy: source)
    }
  }

  package static func value(
    _ name: String, conflates: Bool = false,
    _ apply: @escaping @Sendable (PublishedValue<Int>) -> PublishedValue<Int>
  ) -> LawSubject {
    LawSubject(name) {
      let property = PublishedProperty(0)
      return PublisherUnderTest(
        apply(property.publisher), drivenBy: property, conflates: conflates)
    }
  }

  /// - Parameter apply: Applies an operator with a duration of less than a second.
  package static func timed(
    _ name: String, conflates: Bool = false,
    _ apply: @escaping @Sendable (Broadcaster<Int>, ManualClock) -> Broadcaster<Int>
  ) -> LawSubject {
    LawSubject(name) {
      let source = BroadcastSource<Int>()
      let clock = ManualClock()
      return PublisherUnderTest(
        apply(source.publisher, clock), drivenBy: source, conflates: conflates,
        flush: { clock.advance(by: .seconds(1)) })
    }
  }

  package static func timedValue(
    _ name: String, conflates: Bool = false,
    _ apply: @escaping @Sendable (PublishedValue<Int>, ManualClock) -> PublishedValue<Int>
  ) -> LawSubject {
    LawSubject(name) {
      let property = PublishedProperty(0)
      let clock = ManualClock()
      return PublisherUnderTest(
        apply(property.publisher, clock), drivenBy: property, conflates: conflates,
        flush: { clock.advance(by: .seconds(1)) })
    }
  }

  package static func task<Failure>(
    _ name: String,
    _ apply: @escaping @Sendable (PublishedTask<Int, Never>) -> PublishedTask<Int, Failure>
  ) -> LawSubject {
    LawSubject(name) {
      let source = TaskSource<Int, Never>()
      return PublisherUnderTest(apply(source.publisher), drivenBy: source)
    }
  }

  package static func progressive<Failure>(
    _ name: String,
    _ apply:
      @escaping @Sendable (ProgressiveTask<Int, Int, Never>) -> ProgressiveTask<Int, Int, Failure>
  ) -> LawSubject {
    LawSubject(name) {
      let source = ProgressiveTaskSource<Int, Int, Never>()
      return PublisherUnderTest(apply(source.publisher), drivenBy: source)
    }
  }
}

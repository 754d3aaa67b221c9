// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized, NoLeadingUnderscores
// The part of Combine that the adapters use, for type-checking on Linux.

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error

  func receive<S>(subscriber: S)
  where S: Subscriber, S.Input == Output, S.Failure == Failure
}

public protocol Subscriber<Input, Failure> {
  associatedtype Input
  associatedtype Failure: Error

  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Cancellable {
  func cancel()
}

public protocol Subscription: Cancellable {
  func request(_ demand: Subscribers.Demand)
}

public enum Subscribers {
  public struct Demand: Equatable, Comparable, Sendable {
    public static let unlimited = Demand()
    public static let none = Demand()

    public static func max(_ value: Int) -> Demand { none }

    public static func < (one: Demand, other: Demand) -> Bool { false }

    public static func += (one: inout Demand, other: Demand) {}

    public static func -= (one: inout Demand, other: Demand) {}
  }

  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }
}

public final class AnyCancellable: Cancellable {
  public func cancel() {}
}

extension Publisher {
  public func sink(
    receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    fatalError("This is here to be type-checked.")
  }
}

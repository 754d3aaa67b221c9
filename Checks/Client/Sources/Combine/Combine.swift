// A minimal stand-in for Combine: the exported names that MiniRex might collide with. Only
// BesideCombine imports it.

package protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error

  func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure
}

package protocol Subscriber<Input, Failure> {
  associatedtype Input
  associatedtype Failure: Error

  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

package protocol Cancellable {
  func cancel()
}

package protocol Subscription: Cancellable {
  func request(_ demand: Subscribers.Demand)
}

package protocol Subject<Output, Failure>: Publisher, AnyObject {
  func send(_ value: Output)
}

package protocol ObservableObject: AnyObject {}

package protocol ConnectablePublisher: Publisher {}

package protocol Scheduler {}

package enum Publishers {}

package enum Subscribers {
  package struct Demand: Sendable {
    package static let unlimited = Demand()
  }

  package enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }

  package final class Sink<Input, Failure: Error>: Subscriber {
    private let receiveValue: (Input) -> Void

    package init(receiveValue: @escaping (Input) -> Void) {
      self.receiveValue = receiveValue
    }

    package func receive(subscription: any Subscription) {}

    package func receive(_ input: Input) -> Demand {
      receiveValue(input)
      return .unlimited
    }

    package func receive(completion: Completion<Failure>) {}
  }
}

package final class AnyCancellable: Cancellable {
  private let action: () -> Void

  package init(_ cancel: @escaping () -> Void) {
    action = cancel
  }

  deinit {
    action()
  }

  package func cancel() {
    action()
  }
}

package struct Just<Output>: Publisher {
  package typealias Failure = Never

  private let output: Output

  package init(_ output: Output) {
    self.output = output
  }

  package func receive<S: Subscriber<Output, Never>>(subscriber: S) {
    _ = subscriber.receive(output)
    subscriber.receive(completion: .finished)
  }
}

package final class Future<Output, Failure: Error>: Publisher {
  package typealias Promise = (Result<Output, Failure>) -> Void

  private let attempt: (@escaping Promise) -> Void

  package init(_ attemptToFulfill: @escaping (@escaping Promise) -> Void) {
    attempt = attemptToFulfill
  }

  package func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
    attempt { result in
      if case .success(let output) = result { _ = subscriber.receive(output) }
    }
  }
}

package final class PassthroughSubject<Output, Failure: Error>: Subject {
  private var send: [(Output) -> Void] = []

  package init() {}

  package func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
    send.append { _ = subscriber.receive($0) }
  }

  package func send(_ value: Output) {
    for send in send { send(value) }
  }
}

package final class CurrentValueSubject<Output, Failure: Error>: Subject {
  package var value: Output

  package init(_ value: Output) { self.value = value }

  package func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
    _ = subscriber.receive(value)
  }

  package func send(_ value: Output) { self.value = value }
}

package struct AnyPublisher<Output, Failure: Error>: Publisher {
  private let base: any Publisher<Output, Failure>

  package init(_ base: any Publisher<Output, Failure>) { self.base = base }

  package func receive<S: Subscriber<Output, Failure>>(subscriber: S) {
    base.receive(subscriber: subscriber)
  }
}

@propertyWrapper
package struct Published<Value> {
  package var wrappedValue: Value

  package init(wrappedValue: Value) {
    self.wrappedValue = wrappedValue
  }

  package var projectedValue: Just<Value> { Just(wrappedValue) }
}

extension Publisher {
  package func map<Result>(_ transform: @escaping (Output) -> Result) -> some Publisher<
    Result, Failure
  > {
    Future<Result, Failure> { promise in
      let sink = Subscribers.Sink<Output, Failure> { promise(.success(transform($0))) }
      self.receive(subscriber: sink)
    }
  }

  package func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    receive(subscriber: Subscribers.Sink<Output, Failure>(receiveValue: receiveValue))
    return AnyCancellable {}
  }
}

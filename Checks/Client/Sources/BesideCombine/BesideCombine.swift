import Combine
import MiniRex

/// A model that migrates from Combine to MiniRex.
///
/// The aliases and the sources need no prefix, and Combine's names keep their meaning. Both modules
/// declare `Publisher` and `Subscription`, so this file qualifies these two names.
package final class MovingModel: ObservableObject {
  @Published var old = 1
  @PublishedProperty var new = 1

  private let messages = BroadcastSource<String>()
  private var cancellables: [AnyCancellable] = []
  private var subscription: MiniRex.Subscription?
  private let bag = SubscriptionBag()

  package init() {}

  package var changes: PublishedValue<Int> { $new }
  package var broadcasts: Broadcaster<String> { messages.publisher }

  package func twice() -> (old: [Int], new: [Int]) {
    var old: [Int] = []
    let new = PublishedProperty<[Int]>([])
    $old.map { $0 * 2 }.sink { old.append($0) }.store(in: &cancellables)
    Just(3).sink { old.append($0) }.store(in: &cancellables)
    Future<Int, Never> { $0(.success(4)) }.sink { old.append($0) }.store(in: &cancellables)
    // MiniRex has unavailable aliases of these names.
    let subject = PassthroughSubject<Int, Never>()
    AnyPublisher(subject).sink { old.append($0) }.store(in: &cancellables)
    subject.send(5)
    let current = CurrentValueSubject<Int, Never>(6)
    current.sink { old.append($0) }.store(in: &cancellables)
    subscription = $new.map { $0 * 2 }.subscribe { value in new.modify { $0.append(value) } }
    messages.publisher.subscribe { text in new.modify { $0.append(text.count) } }.store(in: bag)
    self.new = 2
    messages.broadcast("text")
    return (old, new.value)
  }
}

extension AnyCancellable {
  func store(in cancellables: inout [AnyCancellable]) {
    cancellables.append(self)
  }
}

package func keepsItsKind<Update, Kind: PublisherKind>(
  _ publisher: MiniRex.Publisher<Update, Kind>
) -> MiniRex.Publisher<Update, Kind> {
  publisher
}

package func firstResult<Success, Failure: Error>(
  of task: PublishedTask<Success, Failure>,
  _ receive: @escaping @Sendable (Result<Success, Failure>) -> Void
) -> MiniRex.Subscription {
  task.subscribe(receive)
}

package func progress<Progress, Success, Failure: Error>(
  of task: ProgressiveTask<Progress, Success, Failure>,
  _ receive: @escaping @Sendable (Progress) -> Void
) -> MiniRex.Subscription {
  task.subscribe { if case .progress(let progress) = $0 { receive(progress) } }
}

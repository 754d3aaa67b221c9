import BesideCombine
import MiniRex

func hasCurrentValue<Update, Kind: StreamKind>(_ publisher: Publisher<Update, Kind>) -> Bool {
  Kind.hasCurrentValue
}

func forgetKind<Update, Kind: PublisherKind>(
  _ publisher: Publisher<Update, Kind>
) -> Broadcaster<Update> {
  publisher.broadcaster
}

func kinds() {
  let value: PublishedValue<Int> = .constant(1)
  expect(hasCurrentValue(value) && !hasCurrentValue(forgetKind(value)))
  expect(!BroadcasterKind.hasCurrentValue && PublishedValueKind.hasCurrentValue)
  expect(keepsItsKind(value).current() == 1)

  let task: PublishedTask<Int, Never>.Type = Publisher<Result<Int, Never>, TaskKind>.self
  let progressive: ProgressiveTask<Double, Int, Never>.Type =
    Publisher<TaskUpdate<Double, Int, Never>, ProgressiveTaskKind>.self
  expect("\(task)" != "\(progressive)")
  for update: TaskUpdate<Double, Int, Never> in [.progress(0.5), .finished(.success(1))] {
    switch update {
    case .progress(let share): expect(share == 0.5)
    case .finished(let result): expect(result == .success(1))
    }
  }
}

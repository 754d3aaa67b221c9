import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Work that a button starts, one run at a time and only while it is allowed.
final class Action<Input: Sendable, Success: Sendable, Failure: Error>: Sendable {
  private let running = PublishedProperty(false)
  private let finished = BroadcastSource<Result<Success, Failure>>()
  private let allowed: PublishedValue<Bool>
  private let work: @Sendable (Input) -> PublishedTask<Success, Failure>
  private let bag = SubscriptionBag()

  init(
    allowed: PublishedValue<Bool> = .constant(true),
    _ work: @escaping @Sendable (Input) -> PublishedTask<Success, Failure>
  ) {
    self.allowed = allowed
    self.work = work
  }

  var isRunning: PublishedValue<Bool> { running.publisher }
  var isEnabled: PublishedValue<Bool> {
    combineLatest(allowed, running.publisher) { $0 && !$1 }
  }
  var results: Broadcaster<Success> { finished.publisher.compactMap { try? $0.get() } }
  var errors: Broadcaster<Failure> {
    finished.publisher.compactMap { if case .failure(let error) = $0 { error } else { nil } }
  }

  /// Starts a run, or returns `false` if one is active or none is allowed.
  @discardableResult
  func run(_ input: Input) -> Bool {
    guard allowed.current() == true, begin() else { return false }
    work(input).subscribe { [finished] in
      finished.broadcast($0)
    } onEnd: { [running] in
      running.value = false
    }.store(in: bag)
    return true
  }

  private func begin() -> Bool {
    var begins = false
    running.modifyIfChanged { isRunning in
      begins = !isRunning
      isRunning = true
      return begins
    }
    return begins
  }
}

private struct SaveError: Error, Equatable {}

/// The samples of AnActionButton.md.
@Suite(.light) struct AnActionButtonSamples {
  private let uploads = Shared<[TaskSource<Int, SaveError>]>([])

  private func begin(_ text: String) -> PublishedTask<Int, SaveError> {
    let source = TaskSource<Int, SaveError>()
    uploads.append(source)
    return source.publisher
  }

  @Test func `a run is rejected while another is active or none is allowed`() {
    let text = PublishedProperty("")
    let upload: @Sendable (String) -> PublishedTask<Int, SaveError> = { begin($0) }

    let save = Action(allowed: text.publisher.map { !$0.isEmpty }) { text in upload(text) }

    let enabled = Recorder(save.isEnabled)
    let results = Recorder(save.results)
    let errors = Recorder(save.errors)
    #expect(!save.run(text.value))
    text.value = "a"
    #expect(save.run(text.value))
    #expect(!save.run(text.value))
    uploads.value[0].finish(.failure(SaveError()))
    #expect(save.run(text.value))
    uploads.value[1].finish(.success(1))
    #expect(enabled.updates == [false, true, false, true, false, true])
    #expect(results.updates == [1] && errors.updates == [SaveError()])
    #expect(uploads.value.count == 2)
  }

  @Test func `a task that finishes without a result allows the next run`() {
    let save = Action<Int, Int, SaveError> { _ in
      PublishedTask { _ in .ended }
    }
    #expect(save.run(1))
    #expect(save.isRunning.current() == false)
    #expect(save.run(2))
  }

  @Test func `a run from a callback of results is rejected`() {
    let save = Action<Int, Int, SaveError> { .success($0) }
    let again = Shared<[Bool]>([])
    let results = Recorder(save.results) { number in
      if number == 1 { again.append(save.run(2)) }
    }
    #expect(save.run(1))
    #expect(results.updates == [1])
    // The run lasts until all subscribers have the result.
    #expect(again.value == [false])
  }

  @Test func `concurrent presses start one run`() {
    for _ in 0..<scaled(200) {
      let starts = Shared(0)
      let save = Action<Int, Int, Never> { _ in
        starts.increment()
        return .never
      }
      let begun = Shared(0)
      onThreads(4) { thread in if save.run(thread) { begun.increment() } }
      #expect(starts.value == 1 && begun.value == 1)
    }
  }

  @Test func `deallocating an action cancels its run`() {
    var save: Action<String, Int, SaveError>? = Action { [uploads] _ in
      let source = TaskSource<Int, SaveError>()
      uploads.append(source)
      return source.publisher
    }
    save?.run("a")
    #expect(uploads.value[0].subscriberCount == 1)
    save = nil
    #expect(uploads.value[0].subscriberCount == 0)
  }
}

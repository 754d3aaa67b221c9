import MiniRex

@MainActor final class Label {
  var text = ""
}

@MainActor func mainActor() {
  let source = PublishedProperty("a")
  let label = Label()
  let other = Label()
  let bag = SubscriptionBag()
  var heard: [String] = []
  source.publisher.bindOnMain(to: label, \.text).store(in: bag)
  let bounded = source.publisher.subscribeOnMain(buffering: .bufferingNewest(1)) { _ in }
  expect(bounded.pendingUpdates == 0 && bounded.droppedCount == 0)
  source.publisher.subscribeOnMain { heard.append($0) }.store(in: bag)
  source.publisher.subscribeOnMain(weakly: other) { $0.text += $1 }.store(in: bag)
  source.value = "b"
  expect(label.text == "b" && heard == ["a", "b"] && other.text == "ab")
  bag.invalidate()
}

actor Adder {
  private(set) var sum = 0
  private var whenDone: CheckedContinuation<Int, Never>?

  func add(_ number: Int) {
    sum += number
    if sum == 6 { whenDone?.resume(returning: sum) }
  }

  func six() async -> Int {
    if sum == 6 { return sum }
    return await withCheckedContinuation { whenDone = $0 }
  }
}

func actors() async {
  let adder = Adder()
  let source = BroadcastSource<Int>()
  let token = source.publisher.subscribe(isolatedTo: adder) { adder, number in adder.add(number) }
  for number in 1...3 { source.broadcast(number) }
  expect(await adder.six() == 6)
  token.invalidate()
}

import Chains
import MiniRex
import MiniRexTesting

func operators() {
  let numbers: Broadcaster<Int> = .sequence([1, 2, 2, 3])
  expect(Recorder(numbers.map { $0 * 2 }).updates == [2, 4, 4, 6])
  expect(Recorder(numbers.filter { $0 != 2 }).updates == [1, 3])
  expect(Recorder(numbers.compactMap { $0 > 1 ? "\($0)" : nil }).updates == ["2", "2", "3"])
  expect(Recorder(numbers.removeDuplicates()).updates == [1, 2, 3])
  expect(Recorder(numbers.removeDuplicates(by: { $1 - $0 < 2 })).updates == [1, 3])
  expect(Recorder(numbers.scan(0, +)).updates == [1, 3, 5, 8])
  expect(Recorder(numbers.prefix(2)).updates == [1, 2])
  expect(Recorder(numbers.dropFirst()).updates == [2, 2, 3])
  expect(Recorder(numbers.prefix { $0 < 3 }).updates == [1, 2, 2])
  expect(Recorder(numbers.prefix(while: { $0 < 3 })).hasEnded)
  expect(Recorder(numbers.drop(while: { $0 < 3 })).updates == [3])
  expect(Recorder(merge([numbers, numbers.prefix(1)])).updates == [1, 2, 2, 3, 1])
  expect(Recorder(merge(numbers.prefix(1), PublishedValue.constant(9))).updates == [1, 9])

  expect(Recorder(numbers.pairs().map { $1 - $0 }).updates == [1, 0, 1])
  expect(Recorder(numbers.pairs().map { old, new in new - old }).updates == [1, 0, 1])
  expect(Recorder(numbers.chunked(by: 3)).updates == [[1, 2, 2], [3]])
  expect(Recorder(numbers.prepend(7, 8).append(numbers.prefix(1))).updates.count == 7)
  expect(Recorder(numbers.prefix(until: numbers)).updates == [])
  expect(Recorder(numbers.drop(until: numbers)).updates == [1, 2, 2, 3])
  expect(Recorder(numbers.withLatest(from: numbers).map(+)).updates == [4, 5, 5, 6])
  let clock = ManualClock()
  let chunks = numbers.append(.never).chunked(every: .seconds(1), clock: clock)
  let both = numbers.append(.never).chunked(by: 3, every: .seconds(1), clock: clock)
  let recorders = [Recorder(chunks), Recorder(both)]
  clock.advance(by: .seconds(1))
  expect(recorders[0].updates == [[1, 2, 2, 3]] && recorders[1].updates == [[1, 2, 2], [3]])

  let width = PublishedProperty(2)
  let height = PublishedProperty(3.0)
  let size = combineLatest(width.publisher, height.publisher)
  let area = combineLatest(width.publisher, height.publisher, transform: { Double($0) * $1 })
  let areas = Recorder(area)
  width.value = 4
  expect(areas.updates == [6, 12] && size.current()?.0 == 4)
  expect(Recorder(area.broadcaster).updates == [12])

  let widths = numbers.withLatest(from: width.publisher).map { number, width in number * width }
  expect(Recorder(widths).updates == [4, 8, 8, 12])
  let sides: PublishedValue<PublishedValue<Int>> = .constant(width.publisher)
  expect(sides.switchToLatest().current() == 4)
  let doubled = height.publisher.flatMapLatest { height in
    width.publisher.map { Double($0) * height }
  }
  expect(doubled.current() == 12)
  let turns: Broadcaster<Broadcaster<Int>> = .sequence([.never, numbers])
  expect(Recorder(turns.switchToLatest()).updates == [1, 2, 2, 3])
  let fetched = numbers.flatMapLatest { PublishedTask<Int, Never>.success($0) }
  expect(Recorder(fetched).updates == [1, 2, 2, 3].map { .success($0) })
  let repeated = numbers.flatMap(limit: 1) { Broadcaster.sequence([$0, $0]) }
  expect(Recorder(repeated.prefix(4)).updates == [1, 1, 2, 2])

  let source = BroadcastSource<Int>()
  let shared = source.publisher.share()
  withSubscription(shared, { _ in }) {
    let other = Recorder(shared)
    expect(source.subscriberCount == 1 && other.isSubscribed)
  }
  expect(source.subscriberCount == 0 && area.share().current() == 12)
  let latest = source.publisher.publishedValue(initial: 0)
  let newest = source.publisher.publishedValue()
  expect(newest.current() == .some(nil))
  source.broadcast(8)
  expect(latest.current() == 8 && newest.current() == 8)
}

func chains() {
  expect(Recorder(twelve(of: .sequence(Array(1...12)))).updates == ["71", "121", "191"])
  expect(Recorder(twelve(of: .constant(2))).updates == [])
  expect(Recorder(latestTwelve(of: .constant("abc"), scale: .constant(2))).updates == ["12"])
  let name = several(.constant(2), .constant(3), .constant(0.5), scale: .never)
  expect(Recorder(name).updates == ["3"])
}

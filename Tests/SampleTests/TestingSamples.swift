import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of Testing.md.
@Suite(.light) struct TestingSamples {
  enum WeatherError: Error {
    case noNetwork
  }

  protocol Weather: Sendable {
    var celsius: PublishedValue<Int> { get }
    var alarms: Broadcaster<String> { get }
    func forecast(for city: String) -> PublishedTask<[Int], WeatherError>
  }

  struct ConstantWeather: Weather {
    var celsius = PublishedValue.constant(20)
    var alarms = Broadcaster<String>.never
    var result = PublishedTask<[Int], WeatherError>.success([18, 21])

    func forecast(for city: String) -> PublishedTask<[Int], WeatherError> { result }
  }

  func headline(_ weather: some Weather) -> PublishedTask<String, Never> {
    weather.forecast(for: "Zurich")
      .map { celsius in "Up to \(celsius.max() ?? 0) °C" }
      .recover { _ in .success("Look out of the window") }
  }

  @Test func `a forecast becomes a headline`() async {
    #expect(await headline(ConstantWeather()).result == .success("Up to 21 °C"))
  }

  @Test func `a failed forecast becomes a default headline`() async {
    let weather = ConstantWeather(result: .failure(.noNetwork))
    #expect(await headline(weather).result == .success("Look out of the window"))
  }

  @Test func `alarms arrive in order`() {
    let alarms = BroadcastSource<String>()
    let weather = ConstantWeather(alarms: alarms.publisher)
    let recorder = Recorder(weather.alarms)

    alarms.broadcast("storm")
    alarms.broadcast("flood")
    alarms.end()

    #expect(recorder.updates == ["storm", "flood"])
    #expect(recorder.hasEnded)
  }

  @Test func `next awaits an alarm from another task`() async {
    let alarms = BroadcastSource<String>()
    let recorder = Recorder(alarms.publisher)

    Task.detached { alarms.broadcast("storm") }

    #expect(await recorder.next() == ["storm"])
  }

  @Test func `debounce keeps the last of several alarms`() {
    let clock = ManualClock()
    let alarms = BroadcastSource<String>()
    let recorder = Recorder(alarms.publisher.debounce(for: .seconds(60), clock: clock))

    alarms.broadcast("storm")
    clock.advance(by: .seconds(59))
    alarms.broadcast("flood")
    clock.advance(by: .seconds(59))
    #expect(recorder.updates == [])

    clock.advance(by: .seconds(1))
    #expect(recorder.updates == ["flood"])
  }

  @Test func `a forecast that exceeds its timeout fails`() async {
    let clock = ManualClock()
    let never = PublishedTask<[Int], WeatherError>.never
    let recorder = Recorder(never.timeout(after: .seconds(5), clock: clock))

    await clock.advance(by: .seconds(5))

    #expect(recorder.updates == [.failure(.timedOut)])
  }

  @Test func `a retrying forecast makes three attempts`() async {
    let clock = ManualClock()
    let attempts = BroadcastSource<Void>()
    let count = Recorder(attempts.publisher)
    let forecast = PublishedTask.retrying(
      times: 2, delay: .constant(.seconds(10)), clock: clock
    ) { () async throws(WeatherError) -> [Int] in
      attempts.broadcast(())
      throw .noNetwork
    }
    let recorder = Recorder(forecast)

    await clock.advance(by: .seconds(10), sleepers: 1)
    await clock.advance(by: .seconds(10), sleepers: 1)

    #expect(await recorder.next() == [.failure(.noNetwork)])
    #expect(count.updates.count == 3)
  }

  @Test func `withLatest pairs an alarm with the latest value`() {
    let timeline = Timeline()
    let celsius = timeline.value("1--2----3--")
    let alarms = timeline.broadcaster("-a--b-c-|")
    timeline.expect("-1--2-2-|", from: alarms.withLatest(from: celsius).map { $0.1 })
    #expect(timeline.play() == nil)
  }

  @Test func `the difference of a timeline is a diagram`() {
    let timeline = Timeline()
    let text = timeline.value("a-b-c----")
    let calm = text.debounce(for: .seconds(2), clock: timeline.clock)
    timeline.expect("a----c", from: calm)
    let picture = """
      The updates differ from step 4 on, counting from 0:

      value        a-b-c----
      expected     a----c
      received     a---?-c
                       ^
      ? is b
      """
    #expect(timeline.play().map { "\($0)" } == picture)
  }

  final class Station: Sendable {
    private let alarms: Recorder<String>

    init(_ weather: some Weather) { alarms = Recorder(weather.alarms) }
    var count: Int { alarms.updates.count }
  }

  @Test func `a station is released`() throws {
    let alarms = BroadcastSource<String>()
    try expectReleased { track in
      let station = track(Station(ConstantWeather(alarms: alarms.publisher)))
      alarms.broadcast("storm")
      #expect(station.count == 1)
    }
    #expect(alarms.subscriberCount == 0)
  }

  final class Siren: Sendable {
    private let alarms = BroadcastSource<String>(name: "alarms")
    private let bag = SubscriptionBag()

    init() {
      alarms.publisher.subscribe { self.howl($0) }.store(in: bag)
    }

    func howl(_ alarm: String) {}
    func dismantle() { bag.invalidate() }
  }

  @Test func `a leak report names the object and the subscription`() throws {
    let sirens = Sirens()
    let report = #expect(throws: LeakReport.self) {
      try expectReleased { track in
        let siren = track(Siren())
        siren.howl("test")
        sirens.add(siren)
      }
    }
    sirens.dismantle()

    let text = report?.description.replacing(/:\d+/, with: "")
    #expect(
      text == """
        An object is still in memory:
          Siren, SampleTests/TestingSamples.swift
        A subscription is still active:
          alarms → subscribe, SampleTests/TestingSamples.swift
        """)
  }

  /// Breaks the retain cycle after the test.
  final class Sirens {
    private weak var siren: Siren?

    func add(_ siren: Siren) { self.siren = siren }
    func dismantle() { siren?.dismantle() }
  }

  @Test func `dismantling ends all subscriptions`() throws {
    try expectSubscriptionsEnded {
      let siren = Siren()
      siren.dismantle()
    }
  }
}

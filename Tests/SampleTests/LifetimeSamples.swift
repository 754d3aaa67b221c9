import MiniRex
import MiniRexTesting
import TestSupport
import Testing

final class LineWriter: Sendable {
  private let written = BroadcastSource<String>()
  let recorder: Recorder<String>

  init() { recorder = Recorder(written.publisher) }

  func write(_ line: String) { written.broadcast(line) }
}

final class Display: Sendable {
  private let bag = SubscriptionBag()
  private let lines: LineWriter

  init(of temperature: PublishedValue<Int>, on lines: LineWriter) {
    self.lines = lines
    temperature
      .subscribe(weakly: self) { display, degrees in display.show(degrees) }
      .store(in: bag)
  }

  private func show(_ degrees: Int) {
    lines.write("\(degrees) °C")
  }
}

@Suite(.light) struct LifetimeSamples {
  @Test func `an object that subscribes weakly is deallocated with its subscription`() throws {
    let lines = LineWriter()

    let thermometer = PublishedProperty(20)
    try expectReleased { track in
      let display = track(Display(of: thermometer.publisher, on: lines))
      thermometer.value = 21
      withExtendedLifetime(display) {}
    }

    #expect(lines.recorder.updates == ["20 °C", "21 °C"])
    #expect(thermometer.subscriberCount == 0)
  }
}

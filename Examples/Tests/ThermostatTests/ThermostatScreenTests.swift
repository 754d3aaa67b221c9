import MiniRex
import MiniRexTesting
import TestSupport
import Testing
import ThermostatKit

@Suite(.light) struct ThermostatScreenTests {
  @Test func `the title shows the thermostat's values, rounded to a degree`() {
    let resting = ThermostatScreen(ConstantThermostat(temperature: 20.6))
    let heating = ThermostatScreen(
      ConstantThermostat(temperature: 17.2, target: 21, isHeating: true))
    let almost = ThermostatScreen(
      ConstantThermostat(temperature: 19.6, target: 20, isHeating: true))

    #expect(Recorder(resting.title).updates == ["21 °C"])
    #expect(Recorder(heating.title).updates == ["17 °C, heating to 21 °C"])
    #expect(Recorder(almost.title).updates == ["20 °C, heating"])
  }

  @Test func `an alarm becomes a notice`() {
    let quiet = ThermostatScreen(ConstantThermostat())
    let cold = ThermostatScreen(ConstantThermostat(alarms: [.silence(.seconds(60)), .frost]))

    #expect(quiet.notice.current() == "")
    #expect(cold.notice.current() == "The pipes may freeze.")
  }

  @Test func `a refused target becomes a notice, which an accepted target removes`() {
    let screen = ThermostatScreen(HeatingThermostat(now: 20, sensor: .never))
    let notices = Recorder(screen.notice)

    screen.press(target: 99)
    screen.press(target: 21)

    #expect(notices.updates == ["", "Between 5 and 30 °C.", ""])
  }

  @Test func `a target may be answered asynchronously`() {
    let clock = ManualClock()
    let answer = PublishedTask<Double, TargetRefused>.failure(
      TargetRefused(allowed: 10...25), after: .seconds(2), clock: clock)
    let screen = ThermostatScreen(ConstantThermostat(answer: answer))
    let notices = Recorder(screen.notice)

    screen.press(target: 99)
    #expect(notices.updates == [""])
    clock.advance(by: .seconds(2))

    #expect(notices.updates == ["", "Between 10 and 25 °C."])
  }

  @Test func `the title omits changes that are not visible`() {
    let sensor = BroadcastSource<Double>()
    let thermostat = HeatingThermostat(now: 20.8, sensor: sensor.publisher)
    let titles = Recorder(ThermostatScreen(thermostat).title)

    for degrees in [20.9, 21.1, 21.4, 21.6] { sensor.broadcast(degrees) }

    #expect(titles.updates == ["21 °C", "22 °C"])
  }
}

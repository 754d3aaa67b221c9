import MiniRex
import MiniRexTesting
import TestSupport
import Testing
import ThermostatKit

@Suite(.light) struct HeatingThermostatTests {
  let sensor = BroadcastSource<Double>()
  let clock = ManualClock()
  let thermostat: HeatingThermostat

  init() {
    thermostat = HeatingThermostat(
      now: 20, sensor: sensor.publisher, silence: .seconds(60), clock: clock)
  }

  @Test func `the heating is on from half a degree below the target up to the target`() {
    let heating = Recorder(thermostat.isHeating)

    for degrees in [19.6, 19.4, 19.6, 19.9, 20.0, 19.6] { sensor.broadcast(degrees) }

    #expect(heating.updates == [false, true, false])
    #expect(thermostat.temperature.current() == 19.6)
  }

  @Test func `a new target switches the heating immediately`() async {
    let heating = Recorder(thermostat.isHeating)

    let result = await thermostat.setTarget(22).result

    #expect(result == .success(22))
    #expect(heating.updates == [false, true])
  }

  @Test func `a target outside the permitted range is refused`() async {
    let result = await thermostat.setTarget(31).result

    #expect(result == .failure(TargetRefused(allowed: 5...30)))
    #expect(thermostat.target.current() == 20)
  }

  @Test func `each frost raises one alarm`() {
    let alarms = Recorder(thermostat.alarms)

    for degrees in [5, 3.9, 3, 4.2, 3] { sensor.broadcast(degrees) }

    #expect(alarms.updates == [.frost, .frost])
  }

  @Test func `a silent sensor raises an alarm, and repeated readings do not`() {
    let alarms = Recorder(thermostat.alarms)
    for _ in 1...3 {
      sensor.broadcast(20)
      clock.advance(by: .seconds(59))
    }
    #expect(alarms.updates == [])

    clock.advance(by: .seconds(1))

    #expect(alarms.updates == [.silence(.seconds(60))])
  }
}

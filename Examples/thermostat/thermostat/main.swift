import MiniRex
import ThermostatKit

// A simulated minute takes 50 milliseconds.
let minutes = ContinuousClock().broadcaster(every: .milliseconds(50)).share()
let room = PublishedProperty(Room(temperature: 16.5))
let thermostat = HeatingThermostat(
  now: room.value.temperature, sensor: room.publisher.dropFirst().map(\.temperature),
  silence: .milliseconds(500))

let screen = ThermostatScreen(thermostat)
let bag = SubscriptionBag()
screen.title.subscribe { print($0) }.store(in: bag)
screen.notice.filter { !$0.isEmpty }.subscribe { print("! \($0)") }.store(in: bag)

let life = minutes.withLatest(from: thermostat.isHeating).subscribe { _, isHeating in
  room.modify { $0 = $0.later(isHeating: isHeating) }
}
_ = await minutes.dropFirst(15).first().result
screen.press(target: 35)
screen.press(target: 22)
_ = await minutes.dropFirst(15).first().result
// The sensor stops, and the screen shows a notice.
life.invalidate()
_ = await screen.notice.first { $0.contains("sensor") }.result

import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Observation
import TestSupport
import Testing

/// The samples of UsingItInSwiftUI.md, without the views.
@Suite(.light) struct UsingItInSwiftUISamples {
  final class Thermostat: Sendable {
    private let measured = PublishedProperty(19.5)
    private let failed = BroadcastSource<String>()
    var temperature: PublishedValue<Double> { measured.publisher }
    var failures: Broadcaster<String> { failed.publisher }

    func measure(_ celsius: Double) { measured.value = celsius }
    func fail(_ reason: String) { failed.broadcast(reason) }
  }

  @MainActor
  @Observable
  final class ThermostatModel {
    let title: ObservedValue<String>
    let failure: ObservedValue<String?>

    init(_ thermostat: Thermostat) {
      title = thermostat.temperature.map { "\(Int($0.rounded())) °C" }.observed()
      failure = thermostat.failures.map { Optional($0) }.observed(initial: nil)
    }
  }

  @MainActor
  @Test func `an observed value changes with its publisher, and skips duplicates`() async {
    let thermostat = Thermostat()
    let model = ThermostatModel(thermostat)
    let changes = Paper()
    withObservationTracking {
      _ = model.title.value
    } onChange: {
      changes.print("changed")
    }

    #expect(model.title.value == "20 °C")
    thermostat.measure(20.1)
    #expect(changes.lines.isEmpty)
    thermostat.measure(21.6)
    thermostat.fail("no current")

    #expect(changes.lines == ["changed"])
    #expect(model.title.value == "22 °C")
    #expect(model.failure.value == "no current")
  }

  @MainActor
  final class Label {
    var text = ""
    var isRed = false
  }

  @MainActor
  final class ThermostatController {
    let label = Label()
    private let bag = SubscriptionBag()

    init(_ thermostat: Thermostat) {
      thermostat.temperature
        .map { "\(Int($0.rounded())) °C" }
        .bindOnMain(to: label, \.text)
        .store(in: bag)
      thermostat.failures
        .subscribeOnMain(weakly: self) { me, _ in me.label.isRed = true }
        .store(in: bag)
    }
  }

  @MainActor
  @Test func `bindings deliver on the main actor, and do not retain their object`() async throws {
    let thermostat = Thermostat()
    try expectReleased { track in
      let controller = track(ThermostatController(thermostat))
      #expect(controller.label.text == "20 °C")
      thermostat.measure(21.6)
      #expect(controller.label.text == "22 °C")
      thermostat.fail("no current")
      #expect(controller.label.isRed)
    }

    let controller = ThermostatController(thermostat)
    let hasArrived = TaskSource<Void, Never>()
    let subscription = thermostat.temperature.subscribeOnMain { celsius in
      if celsius == 25 { hasArrived.finish(.success(())) }
    }
    await Task.detached { thermostat.measure(25) }.value
    _ = await hasArrived.publisher.result
    #expect(controller.label.text == "25 °C")
    subscription.invalidate()
  }
}

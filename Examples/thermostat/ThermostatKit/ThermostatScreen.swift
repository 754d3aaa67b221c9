public import MiniRex

/// What a person sees of a thermostat, and the buttons they press.
public final class ThermostatScreen: Sendable {
  /// The temperature in whole degrees, and what the heating does.
  public let title: PublishedValue<String>
  /// What should be read at once; empty if there is nothing.
  public let notice: PublishedValue<String>

  private let thermostat: any Thermostat
  private let answers = BroadcastSource<String>()
  private let bag = SubscriptionBag()

  /// Makes the screen of a thermostat, whichever.
  public init(_ thermostat: any Thermostat) {
    self.thermostat = thermostat
    title = combineLatest(thermostat.temperature, thermostat.target, thermostat.isHeating) {
      temperature, target, isHeating in
      let (now, wanted) = (Int(temperature.rounded()), Int(target.rounded()))
      guard isHeating else { return "\(now) °C" }
      return now == wanted ? "\(now) °C, heating" : "\(now) °C, heating to \(wanted) °C"
    }
    let alarms = thermostat.alarms.map { alarm in
      switch alarm {
      case .frost: "The pipes may freeze."
      case .silence(let duration): "The sensor has said nothing for \(duration)."
      }
    }
    notice = merge(alarms, answers.publisher).publishedValue(initial: "")
  }

  /// Asks for a target, and says why it cannot be had.
  public func press(target degrees: Double) {
    thermostat.setTarget(degrees).subscribe { [answers] result in
      switch result {
      case .success: answers.broadcast("")
      case .failure(let refused):
        answers.broadcast(
          "Between \(Int(refused.allowed.lowerBound)) and \(Int(refused.allowed.upperBound)) °C.")
      }
    }.store(in: bag)
  }
}

public import MiniRex

/// The texts and buttons of a thermostat's screen.
public final class ThermostatScreen: Sendable {
  /// The temperature, rounded to a degree, and the state of the heating.
  public let title: PublishedValue<String>
  /// The last alarm or refusal, or an empty text.
  public let notice: PublishedValue<String>

  private let thermostat: any Thermostat
  private let answers = BroadcastSource<String>()
  private let bag = SubscriptionBag()

  /// Creates the screen of any thermostat.
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
      case .silence(let duration): "The sensor has been silent for \(duration)."
      }
    }
    notice = merge(alarms, answers.publisher).publishedValue(initial: "")
  }

  /// Requests a target, and shows a notice if it is refused.
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

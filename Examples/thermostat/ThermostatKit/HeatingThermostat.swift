public import MiniRex

/// Switches the heating by what a sensor measures.
public final class HeatingThermostat: Thermostat {
  /// What the sensor has measured last.
  public let temperature: PublishedValue<Double>
  /// True from half a degree below the target up to the target.
  public let isHeating: PublishedValue<Bool>
  /// Calls when it is close to freezing, and when the sensor is silent.
  public let alarms: Broadcaster<Alarm>

  private let wanted: PublishedProperty<Double>
  private let allowed = 5.0...30.0

  /// Follows a sensor.
  ///
  /// - Parameters:
  ///   - now: What the sensor has measured already, in degrees Celsius.
  ///   - sensor: Measures again and again.
  ///   - target: What it heats to at first.
  ///   - silence: How long the sensor may say nothing.
  ///   - clock: The only source of time.
  public init(
    now: Double, sensor: Broadcaster<Double>, target: Double = 20,
    silence: Duration = .seconds(300), clock: any Clock<Duration> = ContinuousClock()
  ) {
    let wanted = PublishedProperty(target)
    let temperature = sensor.publishedValue(initial: now)
    self.wanted = wanted
    self.temperature = temperature
    // Half a degree between on and off, or the boiler would never rest.
    isHeating = combineLatest(temperature, wanted.publisher)
      .scan(false) { wasHeating, now in now.0 < now.1 - (wasHeating ? 0 : 0.5) }
      .publishedValue(initial: false)
    alarms = merge(
      sensor.map { $0 < 4 }.removeDuplicates().filter { $0 }.map { _ in .frost },
      sensor.debounce(for: silence, clock: clock).map { _ in .silence(silence) })
  }

  /// What was set last.
  public var target: PublishedValue<Double> { wanted.publisher }

  /// Refuses what no room should have.
  public func setTarget(_ degrees: Double) -> PublishedTask<Double, TargetRefused> {
    guard allowed.contains(degrees) else { return .failure(TargetRefused(allowed: allowed)) }
    wanted.value = degrees
    return .success(degrees)
  }
}

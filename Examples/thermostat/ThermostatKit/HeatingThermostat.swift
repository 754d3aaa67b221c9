public import MiniRex

/// A thermostat that switches a heating by the readings of a sensor.
public final class HeatingThermostat: Thermostat {
  /// The last reading of the sensor.
  public let temperature: PublishedValue<Double>
  /// `true` from half a degree below the target up to the target.
  public let isHeating: PublishedValue<Bool>
  /// Emits an alarm near freezing, and when the sensor is silent.
  public let alarms: Broadcaster<Alarm>

  private let wanted: PublishedProperty<Double>
  private let allowed = 5.0...30.0

  /// Creates a thermostat that follows a sensor.
  ///
  /// - Parameters:
  ///   - now: The first reading, in degrees Celsius.
  ///   - sensor: The later readings.
  ///   - target: The initial target.
  ///   - silence: The time without a reading that raises an alarm.
  ///   - clock: The clock that measures the silence.
  public init(
    now: Double, sensor: Broadcaster<Double>, target: Double = 20,
    silence: Duration = .seconds(300), clock: any Clock<Duration> = ContinuousClock()
  ) {
    let wanted = PublishedProperty(target)
    let temperature = sensor.publishedValue(initial: now)
    self.wanted = wanted
    self.temperature = temperature
    // Half a degree between on and off keeps the boiler from switching continuously.
    isHeating = combineLatest(temperature, wanted.publisher)
      .scan(false) { wasHeating, now in now.0 < now.1 - (wasHeating ? 0 : 0.5) }
      .publishedValue(initial: false)
    alarms = merge(
      sensor.map { $0 < 4 }.removeDuplicates().filter { $0 }.map { _ in .frost },
      sensor.debounce(for: silence, clock: clock).map { _ in .silence(silence) })
  }

  /// The current target.
  public var target: PublishedValue<Double> { wanted.publisher }

  /// Sets the target, or fails if it is outside 5 to 30 °C.
  public func setTarget(_ degrees: Double) -> PublishedTask<Double, TargetRefused> {
    guard allowed.contains(degrees) else { return .failure(TargetRefused(allowed: allowed)) }
    wanted.value = degrees
    return .success(degrees)
  }
}

public import MiniRex

/// A thermostat with constant values, for tests and previews.
public struct ConstantThermostat: Thermostat {
  /// The constant temperature.
  public let temperature: PublishedValue<Double>
  /// The constant target, which ``setTarget(_:)`` does not change.
  public let target: PublishedValue<Double>
  /// The constant state of the heating.
  public let isHeating: PublishedValue<Bool>
  /// Emits the alarms inside `subscribe`, and then finishes.
  public let alarms: Broadcaster<Alarm>

  private let answer: PublishedTask<Double, TargetRefused>

  /// Creates a thermostat that emits the alarms to each subscriber, and always returns the same
  /// answer.
  public init(
    temperature: Double = 20, target: Double = 20, isHeating: Bool = false, alarms: [Alarm] = [],
    answer: PublishedTask<Double, TargetRefused> = .success(20)
  ) {
    self.temperature = .constant(temperature)
    self.target = .constant(target)
    self.isHeating = .constant(isHeating)
    self.alarms = .sequence(alarms)
    self.answer = answer
  }

  /// Returns the answer that was passed to the initializer.
  public func setTarget(_ degrees: Double) -> PublishedTask<Double, TargetRefused> { answer }
}

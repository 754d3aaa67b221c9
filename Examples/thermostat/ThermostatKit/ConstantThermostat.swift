public import MiniRex

/// A thermostat that always says the same, for tests and previews.
public struct ConstantThermostat: Thermostat {
  /// What it says to the end.
  public let temperature: PublishedValue<Double>
  /// Does not change when somebody sets it.
  public let target: PublishedValue<Double>
  /// Never changes.
  public let isHeating: PublishedValue<Bool>
  /// Calls inside `subscribe`, and then ends.
  public let alarms: Broadcaster<Alarm>

  private let answer: PublishedTask<Double, TargetRefused>

  /// Makes one that tells the alarms to each subscriber, and always gives the same answer.
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

  /// Gives the answer that it was made with.
  public func setTarget(_ degrees: Double) -> PublishedTask<Double, TargetRefused> { answer }
}

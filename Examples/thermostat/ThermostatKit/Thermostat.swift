public import MiniRex

/// The publishers and the command that a screen needs of a thermostat.
///
/// Screens take `any Thermostat`, so that their tests and previews need no heating.
public protocol Thermostat: Sendable {
  /// The temperature in degrees Celsius.
  var temperature: PublishedValue<Double> { get }
  /// The target temperature in degrees Celsius.
  var target: PublishedValue<Double> { get }
  var isHeating: PublishedValue<Bool> { get }
  var alarms: Broadcaster<Alarm> { get }

  /// Sets the target, and finishes with the new target.
  func setTarget(_ degrees: Double) -> PublishedTask<Double, TargetRefused>
}

/// A condition that needs attention.
public enum Alarm: Sendable, Equatable {
  case frost
  /// The sensor has been silent for the given time.
  case silence(Duration)
}

/// The target was outside the permitted range.
public struct TargetRefused: Error, Equatable {
  /// The permitted range.
  public let allowed: ClosedRange<Double>

  /// Creates the error, for test doubles.
  public init(allowed: ClosedRange<Double>) {
    self.allowed = allowed
  }
}

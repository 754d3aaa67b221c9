public import MiniRex

/// What a screen needs of a thermostat: publishers to look at, and one thing to ask for.
///
/// Screens take `any Thermostat`, so that their tests and previews need no heating.
public protocol Thermostat: Sendable {
  /// In degrees Celsius.
  var temperature: PublishedValue<Double> { get }
  /// What it heats to.
  var target: PublishedValue<Double> { get }
  var isHeating: PublishedValue<Bool> { get }
  var alarms: Broadcaster<Alarm> { get }

  /// Finishes with the new target.
  func setTarget(_ degrees: Double) -> PublishedTask<Double, TargetRefused>
}

/// Something that somebody should look after.
public enum Alarm: Sendable, Equatable {
  case frost
  /// The sensor has been silent for so long.
  case silence(Duration)
}

/// Why a target is not taken.
public struct TargetRefused: Error, Equatable {
  /// What it would take.
  public let allowed: ClosedRange<Double>

  /// Makes the refusal, for doubles.
  public init(allowed: ClosedRange<Double>) {
    self.allowed = allowed
  }
}

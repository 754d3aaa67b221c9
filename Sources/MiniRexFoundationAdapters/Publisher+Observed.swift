public import MiniRex
public import Observation

/// The current value of a publisher as an observable object, for SwiftUI and other observers.
///
/// Not compiled here, because it needs SwiftUI:
///
/// ```swift
/// struct Thermometer: View {
///   let temperature: ObservedValue<Double>
///   var body: some View { Text(temperature.value, format: .number) }
/// }
/// ```
///
/// It holds its subscription until it is deallocated. Create it with
/// ``MiniRex/Publisher/observed(fileID:line:)``.
@MainActor
@Observable
public final class ObservedValue<Value: Sendable> {
  /// The latest value.
  ///
  /// It changes on the main actor.
  public private(set) var value: Value

  @ObservationIgnored private var subscription = Subscription.ended

  fileprivate init<Kind>(
    _ publisher: Publisher<Value, Kind>, initial: Value, _ fileID: String, _ line: Int
  ) {
    value = initial
    subscription = publisher.subscribeOnMain(
      weakly: self, { me, value in me.value = value }, fileID: fileID, line: line)
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Returns an observable object on the main actor with the current value.
  ///
  /// A value set on the main actor is visible immediately, unless updates are queued. A value set
  /// elsewhere is dispatched to the main actor. The object holds its subscription until it is
  /// deallocated, and keeps its value after the publisher finishes.
  ///
  /// Traps if the publisher emits no value inside `subscribe`, as after `receive(on:)`: use
  /// `observed(initial:)`.
  @MainActor
  public func observed(
    fileID: String = #fileID, line: Int = #line
  ) -> ObservedValue<Update> {
    guard let initial = current() else {
      misuse(
        "'observed()' requires a published value that emits inside 'subscribe'. "
          + "Use 'observed(initial:)', or omit the operator that delays the first value.")
    }
    return ObservedValue(self, initial: initial, fileID, line)
  }
}

extension Publisher where Kind: StreamKind {
  /// Returns an observable object on the main actor with the latest update, and `initial` before
  /// the first update.
  ///
  /// See `observed()`.
  @MainActor
  public func observed(
    initial: Update, fileID: String = #fileID, line: Int = #line
  ) -> ObservedValue<Update> {
    ObservedValue(self, initial: initial, fileID, line)
  }
}

public import MiniRex
public import Observation

/// The current value of a publisher, for SwiftUI and everything else that observes.
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
/// It stays subscribed for as long as it lives. You get one from
/// ``MiniRex/Publisher/observed(fileID:line:)``.
@MainActor
@Observable
public final class ObservedValue<Value: Sendable> {
  /// The latest value; it changes on the main actor.
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
  /// An object on the main actor that shows the current value.
  ///
  /// A value that is set on the main actor is shown at once, unless others wait; one that is set
  /// elsewhere after a hop. The object is subscribed for as long as it lives, and keeps its value
  /// when the publisher has ended.
  ///
  /// A published value whose first call comes late, as it does after `receive(on:)`, has nothing to
  /// show at first, which stops the program: `observed(initial:)` is for it.
  @MainActor
  public func observed(
    fileID: String = #fileID, line: Int = #line
  ) -> ObservedValue<Update> {
    guard let initial = current() else {
      misuse(
        "'observed()' takes a published value whose first call is made inside 'subscribe'. "
          + "Use 'observed(initial:)', or leave out what makes the first call late.")
    }
    return ObservedValue(self, initial: initial, fileID, line)
  }
}

extension Publisher where Kind: StreamKind {
  /// An object on the main actor that shows the latest update, and `initial` until there is one.
  ///
  /// Otherwise it is like `observed()`.
  @MainActor
  public func observed(
    initial: Update, fileID: String = #fileID, line: Int = #line
  ) -> ObservedValue<Update> {
    ObservedValue(self, initial: initial, fileID, line)
  }
}

// SwiftUI exists on Apple platforms only.
#if canImport(SwiftUI)
public import SwiftUI

extension Store {
  /// Returns a binding to a member that sends an action for each write.
  ///
  /// Not compiled here, because it needs SwiftUI:
  ///
  /// ```swift
  /// TextField("Text", text: store.binding(\.text) { .textChanged($0) })
  /// ```
  ///
  /// Reads are observed, so the view updates after each commit that changes the member. A write
  /// commits before the setter returns. The binding retains the store. A binding of a scope whose
  /// child was removed returns the last value and ignores writes.
  ///
  /// - Parameters:
  ///   - member: The key path of the member.
  ///   - action: Returns the action for a new value.
  @MainActor
  public func binding<Value: Sendable>(
    _ member: any KeyPath<State, Value> & Sendable,
    _ action: @escaping @Sendable (Value) -> Action
  ) -> Binding<Value> {
    Binding {
      self.observe(member)
    } set: {
      self.send(action($0))
    }
  }
}
#endif

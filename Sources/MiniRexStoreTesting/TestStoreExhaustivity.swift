/// The changes and actions that a test must assert.
public enum TestStoreExhaustivity: Sendable {
  /// Every action, every change of the state, every effect, and every failure.
  case on
  /// Only the stated actions and changes.
  ///
  /// The closure of an assertion gets the actual state after the action, and fails if it changes
  /// the state: `{ $0.count = 3 }` asserts the count and ignores the other members. The closure of
  /// `send` gets the state after all actions that reducers sent, as after `send` of a `Store`.
  /// `receive` skips other actions until the expected one arrives, and `send` skips received
  /// actions. At the end of the test, received actions and failures of effects are ignored, and
  /// running effects are canceled.
  case off
}

/// A caller's mistake that traps, and a part of the message.
package struct Trap: Sendable {
  package let message: String
  package let mistake: @Sendable () async -> Void

  package init(_ message: String, _ mistake: @escaping @Sendable () async -> Void) {
    self.message = message
    self.mistake = mistake
  }
}

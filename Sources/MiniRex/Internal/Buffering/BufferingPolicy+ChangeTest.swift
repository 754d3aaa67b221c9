extension BufferingPolicy {
  /// Returns a change test downstream of a buffer that drops updates, or `nil` if none is needed.
  ///
  /// After a drop, a published value may return to the value that was delivered last.
  @inlinable
  package func changeTest<Update: Sendable>(of _: Update.Type) -> (@Sendable (Update) -> Bool)? {
    guard Kind.self is PublishedValueKind.Type, case .newest = limit else { return nil }
    let changeTest = ChangeTest<Update>()
    let last = SerialState<Update?>(nil)
    return { update in
      if let last = unsafe last.value, !changeTest(last, update) { return false }
      unsafe last.value = update
      return true
    }
  }
}

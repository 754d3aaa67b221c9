/// Leaves out what equals the update before it, of this very subscription.
@inlinable
package func skippingDuplicates<Update: Sendable>(
  _ changeTest: ChangeTest<Update>, _ receive: @escaping @Sendable (Update) -> Void
) -> @Sendable (Update) -> Void {
  let last = SerialState<Update?>(nil)
  return { update in
    if let last = unsafe last.value, !changeTest(last, update) { return }
    unsafe last.value = update
    receive(update)
  }
}

extension BufferingPolicy {
  /// Tells changes from duplicates behind what this policy drops; `nil` if there is no need.
  ///
  /// A published value may have come back to what was delivered before.
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

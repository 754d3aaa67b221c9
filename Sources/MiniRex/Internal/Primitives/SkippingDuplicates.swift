/// Skips updates that equal the previous update of the same subscription.
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

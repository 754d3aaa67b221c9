/// Emits the results of a combination to its subscriber.
///
/// With a change test, a result that has not changed is skipped.
///
/// Unchecked: only the delivering thread of a `Combination` uses it.
@usableFromInline
final class CombinationOutput<Result: Sendable>: @unchecked Sendable {
  @usableFromInline let comparison: Comparison<Result>
  @usableFromInline let receive: @Sendable (Result) -> Void
  @usableFromInline @exclusivity(unchecked) var last: Result?

  @inlinable
  init(_ changeTest: ChangeTest<Result>?, _ receive: @escaping @Sendable (Result) -> Void) {
    comparison = Comparison(changeTest)
    self.receive = receive
  }

  @inlinable @inline(__always)
  func send(_ result: Result) {
    if let last = unsafe last, !comparison.isChange(from: last, to: result) { return }
    unsafe last = result
    receive(result)
  }

  func emitter(_ collect: @escaping @Sendable () -> Result?) -> @Sendable () -> Void {
    { if let result = collect() { self.send(result) } }
  }
}

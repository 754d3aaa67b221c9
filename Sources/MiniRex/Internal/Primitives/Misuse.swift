/// Traps with advice, in release builds as well, where `precondition` drops its message.
@usableFromInline
package func misuse(_ advice: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError(advice, file: file, line: line)
}

/// Runs code for advice, in debug builds only.
@inline(__always)
package func inDebugBuild(_ advise: () -> Void) {
  assert(
    {
      advise()
      return true
    }())
}

/// Stops the program with advice, in release builds too, where `precondition` drops its message.
@usableFromInline
package func misuse(_ advice: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError(advice, file: file, line: line)
}

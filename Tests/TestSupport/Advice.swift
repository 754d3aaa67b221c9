public import Testing

/// Returns the message of a trap, from the standard error of an exit test.
public func advice(_ result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

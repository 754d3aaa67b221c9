import Testing

extension ExitTest.Result? {
  func says(_ advice: String) -> Bool {
    self.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }?.contains(advice) ?? false
  }
}

#if NATS
extension JetStream.Appended {
  /// Reads the usual answer to an append, which is faster than the decoder, or returns `nil` for any other answer.
  ///
  /// - Parameter stream: The name of the stream, which contains nothing that JSON escapes.
  init?(_ bytes: UnsafeRawBufferPointer, to stream: String) {
    var rest = bytes[...]
    func skip(_ text: some Collection<UInt8>) -> Bool {
      if !rest.starts(with: text) { return false }
      rest = rest.dropFirst(text.count)
      return true
    }
    guard skip(#"{"stream":""#.utf8), skip(stream.utf8), skip(#"","#.utf8) else { return nil }
    _ = skip(" ".utf8)
    guard skip(#""seq":"#.utf8) else { return nil }
    let digits = rest.prefix { 0x30...0x39 ~= $0 }
    rest = rest.dropFirst(digits.count)
    guard (1...19).contains(digits.count), skip("}".utf8), rest.isEmpty else { return nil }
    self.stream = stream
    seq = digits.reduce(0) { $0 * 10 + UInt64($1 - 0x30) }
  }
}
#endif

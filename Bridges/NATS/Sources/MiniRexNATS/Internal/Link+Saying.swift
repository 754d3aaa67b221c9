internal import MiniRex

extension Link {
  /// Says something without content, of which it does not matter if it is lost.
  func say(_ subject: String, _ text: String = "") {
    var text = text
    text.withUTF8 { bytes in
      try? publish(
        Outgoing(subject: subject, headers: [:], bytes: UnsafeRawBufferPointer(bytes)))
    }
  }
}

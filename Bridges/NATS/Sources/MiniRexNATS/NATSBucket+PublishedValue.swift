public import MiniRex

extension NATSBucket {
  /// The value of a key, and each change of it, by whatever process.
  ///
  /// It is `nil` while the key has no value, and until the server has told it: what is needed to
  /// tell these apart, and to replace what one has seen, is in
  /// ``publishedEntry(of:for:catchingUp:fileID:line:)``.
  /// All subscribers of one such publisher share what reads the key, which begins with the first and
  /// ends with the last. Without a connection it keeps its last value, and catches up then; it never
  /// goes back to an earlier one. A value that cannot be decoded is left out and told on
  /// ``NATSConnection/troubles``.
  ///
  /// - Parameters:
  ///   - type: What the value is.
  ///   - key: Of letters, digits and `-/_=.`; another has no value, which is told.
  ///   - way: What it does about changes that it has missed.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func publishedValue<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, for key: String, catchingUp way: CatchingUp = .latest,
    fileID: String = #fileID, line: Int = #line
  ) -> PublishedValue<Value?> {
    publishedEntry(of: type, for: key, catchingUp: way, fileID: fileID, line: line).map(\.value)
  }

  /// What is known of a key, with its revision, and each change of it.
  ///
  /// ```swift
  /// if let revision = entry.current()?.revision { config.put(.dark, for: "theme", replacing: revision) }
  /// ```
  ///
  /// Otherwise it is like ``publishedValue(of:for:catchingUp:fileID:line:)``.
  public func publishedEntry<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, for key: String, catchingUp way: CatchingUp = .latest,
    fileID: String = #fileID, line: Int = #line
  ) -> PublishedValue<BucketEntry<Value>> {
    let (link, isValid) = (link, isValid(key))
    let skips = if case .latest = way { true } else { false }
    let order = ReadingOrder(
      stream: stream, filter: subject(of: key), start: .lastOfSubject, skipsToLast: skips)
    let changes = Broadcaster<BucketEntry<Value>> { receive in
      if !isValid {
        link.tell(.notSubscribed(subject: key, .invalidSubject(key)))
        return .ended
      }
      return StreamReader(order, over: link, hasNothing: { receive(.absent(.none)) }) {
        message, place, _ in
        let revision = Revision(place.sequence)
        if message.header("KV-Operation") != nil { return receive(.absent(revision)) }
        do throws(NATSError) {
          receive(.present(try Codec<Value>.decode(message.bytes), revision))
        } catch {
          link.tell(.undecodable(subject: message.subject, reason: "\(error)"))
        }
      }.start()
    }
    return PublishedValue(initial: { .unknown }, changes: changes).share()
      .trace("\(name)[\(key)]", fileID: fileID, line: line)
  }
}

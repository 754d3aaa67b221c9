#if NATS
public import MiniRex

extension NATSBucket {
  /// Publishes the value of a key, and each change of it by any process.
  ///
  /// The value is `nil` while the key has no value, and until the server has sent it. To
  /// distinguish these, and to replace the revision that you have seen, use
  /// ``publishedEntry(of:for:catchingUp:fileID:line:)``.
  ///
  /// All subscribers of one publisher share one consumer of the server, from the first subscription
  /// to the last. Without a connection the publisher keeps its last value, and it catches up after
  /// the reconnect. It never returns to an earlier value of the same bucket. A value that cannot be
  /// decoded is skipped and reported on ``NATSConnection/diagnostics``.
  ///
  /// A value that expired by ``NATSBucketOptions/maxAge`` becomes `nil` within two seconds. After a
  /// purge of the stream, that takes up to half a minute. A bucket that was restored from a backup
  /// emits the restored value, and ``NATSDiagnostic/rolledBack(stream:to:)`` reports it.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - key: A key of letters, digits, and `-/_=.`. Another key has no value and is reported on
  ///     ``NATSConnection/diagnostics``.
  ///   - way: The treatment of changes that it missed while disconnected. The default is `.latest`.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public func publishedValue<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, for key: String, catchingUp way: NATSCatchUp = .latest,
    fileID: String = #fileID, line: Int = #line
  ) -> PublishedValue<Value?> {
    publishedEntry(of: type, for: key, catchingUp: way, fileID: fileID, line: line).map(\.value)
  }

  /// Publishes a key's value with its revision, and each change of it.
  ///
  /// ```swift
  /// if let revision = entry.current()?.revision {
  ///   _ = try await config.put(Theme.dark, for: "theme", replacing: revision).value
  /// }
  /// ```
  ///
  /// See ``publishedValue(of:for:catchingUp:fileID:line:)`` for sharing, lost connections, and the
  /// parameters.
  public func publishedEntry<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, for key: String, catchingUp way: NATSCatchUp = .latest,
    fileID: String = #fileID, line: Int = #line
  ) -> PublishedValue<NATSBucketEntry<Value>> {
    let changes = Broadcaster<NATSBucketEntry<Value>> { receive in
      if let error = invalidName ?? (isValid(key) ? nil : .invalidSubject(key)) {
        core.report(.notSubscribed(subject: key, error))
        return .ended
      }
      let isKnown = Lock(false)
      return BucketWatcher<Value>.start(self, filter: subject(of: key), catchingUp: way) { change in
        switch change {
        case .incomplete: break
        case .entry(_, let entry):
          isKnown.withLock { $0 = true }
          receive(entry)
        case .complete:
          if !isKnown.withLock({ $0 }) { receive(.absent(.none)) }
          isKnown.withLock { $0 = true }
        }
      }
    }
    return PublishedValue(initial: { .unknown }, changes: changes).share()
      .trace("\(name)[\(key)]", fileID: fileID, line: line)
  }

  /// The values of all keys that match a pattern, and each change of them.
  ///
  /// ```swift
  /// let prices = bucket.publishedEntries(of: Double.self, matching: "prices.*")
  /// ```
  ///
  /// The dictionary is empty until the server has sent the current values, which arrive as one update. Then
  /// each change is one update, which copies the dictionary: O(*n*) for *n* keys. One consumer of the
  /// server serves all keys. See ``publishedValue(of:for:catchingUp:fileID:line:)`` for lost connections
  /// and for values that cannot be decoded.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - pattern: A key in which `*` matches one part and `>` all further parts. The default is `>`, for all
  ///     keys. Another pattern is reported on ``NATSConnection/diagnostics``.
  ///   - fileID: The file of the call, for an instrument.
  ///   - line: The line of the call, for an instrument.
  public func publishedEntries<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, matching pattern: String = ">", fileID: String = #fileID,
    line: Int = #line
  ) -> PublishedValue<[String: Value]> {
    let changes = Broadcaster<[String: Value]> { receive in
      if let error = invalidName ?? invalid(pattern) {
        core.report(.notSubscribed(subject: pattern, error))
        return .ended
      }
      let prefix = subject(of: "").utf8.count
      // Changes arrive serially, so the lock is never contended.
      let content = Lock(BucketDictionary<Value>())
      return BucketWatcher<Value>.start(self, filter: subject(of: pattern), catchingUp: .latest) {
        change in
        // Release the old value outside the lock.
        let (values, old) = content.withLock { $0.take(change, prefix: prefix) }
        if let values { receive(values) }
        withExtendedLifetime(old) {}
      }
    }
    return PublishedValue(initial: { [:] }, changes: changes).share()
      .trace("\(name)[\(pattern)]", fileID: fileID, line: line)
  }

  func invalid(_ pattern: String) -> NATSError? {
    do throws(NATSError) {
      try Subject.checkToSubscribe(subject(of: pattern), queue: nil)
      return nil
    } catch {
      return .invalidSubject(pattern)
    }
  }
}

/// The values of a bucket, collected from the changes.
private struct BucketDictionary<Value: Codable & Sendable>: Sendable {
  private var values: [String: Value] = [:]
  private var isComplete = false
  private var hasChanged = false

  /// Applies a change.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - prefix: The number of bytes of the subject before the key.
  /// - Returns: The dictionary to emit, or `nil` if it is incomplete or unchanged. The replaced value, for
  ///   a release outside the lock.
  mutating func take(
    _ change: BucketWatcher<Value>.Change, prefix: Int
  ) -> (values: [String: Value]?, old: Value?) {
    var old: Value?
    switch change {
    case .incomplete: isComplete = false
    case .entry(let subject, let entry):
      let key = String(subject.utf8.dropFirst(prefix)) ?? subject
      old = values[key]
      values[key] = entry.value
      hasChanged = true
    case .complete: isComplete = true
    }
    if !isComplete || !hasChanged { return (nil, old) }
    hasChanged = false
    return (values, old)
  }
}
#endif

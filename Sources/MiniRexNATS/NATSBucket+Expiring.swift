#if NATS
public import MiniRex

extension NATSBucket {
  /// Writes a value that the server removes after a time, and returns its revision.
  ///
  /// ```swift
  /// let lease = locks.put(
  ///   process, for: "leader", expiringAfter: .seconds(10), replacing: NATSRevision.none)
  /// ```
  ///
  /// Watchers emit its absence within two seconds of the removal. The task fails with
  /// ``NATSError/unsupported(needs:)`` on servers before 2.11, which have no expiration of single values.
  /// It first reads the configuration of the bucket, which costs a round trip. A bucket that another client
  /// created without the option for it fails with ``NATSError/jetStream(code:message:)``.
  ///
  /// - Parameters:
  ///   - value: A value, encoded as ``NATSConnection/publish(_:on:headers:replySubject:)`` encodes it.
  ///   - key: A key of letters, digits, and `-/_=.`.
  ///   - duration: The time until the removal, rounded up to seconds. Traps if it is not positive.
  ///   - revision: The revision to replace, as in ``put(_:for:replacing:)``.
  public func put<Value: Codable & Sendable>(
    _ value: Value, for key: String, expiringAfter duration: Duration,
    replacing revision: NATSRevision? = nil
  ) -> PublishedTask<NATSRevision, NATSError> {
    if duration <= .zero { misuse("'put' requires a positive duration, not \(duration).") }
    let whole = duration.components.seconds + (duration.components.attoseconds > 0 ? 1 : 0)
    // The server reads a Go duration, which has 63 bits of nanoseconds.
    let seconds = min(whole, 9_000_000_000)
    do throws(NATSError) {
      let data = try Codec.data(of: value)
      // An older server stores the value and ignores the header, so the version is checked first.
      return core.streamInfo(stream).flatMap { [self] _ in
        guard ServerVersion(core.serverVersion) >= .expiringValues else {
          return .failure(.unsupported(needs: ServerVersion.expiringValues.description))
        }
        return write(data, for: key, ["Nats-TTL": "\(seconds)s"], replacing: revision)
      }
    } catch {
      return .failure(error)
    }
  }
}

/// The first two numbers of a server's version.
struct ServerVersion: Comparable, CustomStringConvertible {
  static let expiringValues = ServerVersion(major: 2, minor: 11)

  let major: Int
  let minor: Int

  private init(major: Int, minor: Int) { (self.major, self.minor) = (major, minor) }

  /// Text that is not a version is older than each version.
  init(_ text: String?) {
    let numbers = (text ?? "").split(separator: ".").prefix(2).compactMap { Int($0) }
    (major, minor) = numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
  }

  static func < (first: ServerVersion, second: ServerVersion) -> Bool {
    (first.major, first.minor) < (second.major, second.minor)
  }

  var description: String { "\(major).\(minor)" }
}
#endif

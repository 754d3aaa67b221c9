#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension NATSBucket {
  /// Returns the keys that have a value, sorted.
  ///
  /// The server sends the keys without their values, over one consumer. The task fails with
  /// ``NATSError/noStream(_:)`` if the bucket does not exist. When the connection is lost, it starts
  /// again after the reconnect. It starts with the first subscriber.
  ///
  /// - Parameter pattern: A key in which `*` matches one part and `>` all further parts. The default is
  ///   `>`, for all keys.
  public func keys(matching pattern: String = ">") -> PublishedTask<[String], NATSError> {
    let prefix = subject(of: "").utf8.count
    return read(.lastOfSubjects, pattern, headersOnly: true) { message, _ in
      let subject = message.subject
      return !message.isDeletion
        ? String(subject.utf8.dropFirst(prefix)) ?? subject : nil
    }.map { $0.sorted() }
  }

  /// Returns the revisions of a key that the bucket has, oldest first.
  ///
  /// A deletion is ``NATSBucketEntry/absent(_:)``. The number of revisions is limited by
  /// ``NATSBucketOptions/history``. A value that cannot be decoded fails the task with
  /// ``NATSError/undecodable(_:)``. See ``keys(matching:)`` for other failures.
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - key: A key of letters, digits, and `-/_=.`.
  public func history<Value: Codable & Sendable>(
    of type: Value.Type = Value.self, for key: String
  ) -> PublishedTask<[NATSBucketEntry<Value>], NATSError> {
    if !isValid(key) { return .failure(.invalidSubject(key)) }
    return read(.history, key, headersOnly: false) { message, place throws(NATSError) in
      let revision = NATSRevision(place.sequence)
      if message.isDeletion { return .absent(revision) }
      return .present(try Codec<Value>.decode(message.bytes), revision)
    }
  }

  /// Reads the values of all keys that match a pattern, in the order of their revisions.
  package func values(
    matching pattern: String
  ) -> PublishedTask<[(key: String, value: Data, revision: NATSRevision)], NATSError> {
    let prefix = subject(of: "").utf8.count
    return read(.lastOfSubjects, pattern, headersOnly: false) { message, place in
      if message.isDeletion { return nil }
      let key = String(message.subject.utf8.dropFirst(prefix)) ?? message.subject
      return (key, Data(message.bytes), NATSRevision(place.sequence))
    }.map { $0.sorted { $0.revision < $1.revision } }
  }

  /// Collects the messages that exist at the beginning.
  private func read<Element: Sendable>(
    _ start: ConsumerConfig.Start, _ pattern: String, headersOnly: Bool,
    _ element:
      @escaping @Sendable (RawMessage, MessageMetadata) throws(NATSError) -> Element?
  ) -> PublishedTask<[Element], NATSError> {
    if let error = invalidName ?? invalid(pattern) { return .failure(error) }
    let order = ConsumerConfig(
      stream: stream, filter: subject(of: pattern), start: start, rereadsLast: true,
      headersOnly: headersOnly)
    // A reader would wait for a missing stream.
    return core.streamInfo(stream).flatMap { [core] _ in
      PublishedTask<[Element], NATSError> { finish in
        // Messages arrive serially, so the lock is never contended.
        let elements = Lock<Result<[Element], NATSError>>(.success([]))
        let calls = OrderedConsumer.Calls(
          receive: { message, place, _ in
            let result = Result { () throws(NATSError) in try element(message, place) }
            elements.withLock { elements in
              guard case .success(var all) = elements else { return }
              // A second reference to the array would force a copy of it.
              elements = .success([])
              switch result {
              case .success(let element?):
                all.append(element)
                elements = .success(all)
              case .success(nil): elements = .success(all)
              case .failure(let error): elements = .failure(error)
              }
            }
          },
          begins: { _, _ in
            // Release outside the lock.
            _ = elements.withLock { elements in
              defer { elements = .success([]) }
              return elements
            }
          },
          hasSnapshot: { finish(elements.withLock { $0 }) })
        return OrderedConsumer(order, over: core, calls).start()
      }
    }
  }
}
#endif

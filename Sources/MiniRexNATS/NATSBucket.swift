#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A bucket of keys and values, which a server stores with JetStream.
///
/// ```swift
/// let config = nats.bucket("config")
/// let theme = config.publishedValue(of: Theme.self, for: "theme")
/// let written = config.put(Theme.dark, for: "theme")
/// ```
///
/// It does not retain the connection. Other NATS clients see a key-value store of that name.
public struct NATSBucket: Sendable {
  let core: ConnectionCore

  /// The name of the bucket.
  public let name: String

  /// The bucket that this one copies, or `nil`.
  public let mirror: NATSMirror?

  var stream: StreamID { StreamID(name: "KV_\(name)", domain: core.options.jetStreamDomain) }

  /// The stream that stores new values.
  private var origin: StreamID {
    mirror.map { StreamID(name: "KV_\($0.name)", domain: $0.domain ?? stream.domain) } ?? stream
  }

  /// The subject that the stream stores, even in a mirror.
  func subject(of key: String) -> String { "$KV.\(mirror?.name ?? name).\(key)" }
}

extension NATSConnection {
  /// Returns the bucket with a name, whether it exists or not.
  ///
  /// ``NATSBucket/create(_:)`` creates it.
  ///
  /// - Parameters:
  ///   - name: Letters, digits, `-`, and `_`. Operations on another name fail with
  ///     ``NATSError/invalidSubject(_:)``.
  ///   - mirror: The bucket that it copies. Reads come from the copy, and writes go to the origin.
  ///     The default is `nil`.
  public func bucket(_ name: String, mirroring mirror: NATSMirror? = nil) -> NATSBucket {
    NATSBucket(core: core, name: name, mirror: mirror)
  }
}

/// The storage and the limits of a bucket.
public struct NATSBucketOptions: Sendable {
  /// The number of revisions that the server keeps for each key.
  ///
  /// The default is 1.
  public var history = 1
  /// The age at which a value expires, or `nil`, the default, for values that do not expire.
  public var maxAge: Duration?
  /// The maximum size of the bucket in bytes, or `nil`, the default, for the limit of the server.
  public var maxBytes: Int?
  /// The number of servers in a cluster that store the bucket.
  ///
  /// The default is 1.
  public var replicas = 1
  /// A Boolean value that indicates whether the bucket is in memory only and lost with the server.
  ///
  /// The default is `false`.
  public var inMemory = false

  /// Creates options with their defaults.
  public init() {}
}

extension NATSBucket {
  /// Creates the bucket, or succeeds if a bucket with these options exists.
  ///
  /// The task fails if a bucket with the name keeps other values. It compares history, limits, storage,
  /// replicas, and the mirror, and accepts everything else that another client has set. It starts with the
  /// first subscriber.
  public func create(
    _ options: NATSBucketOptions = NATSBucketOptions()
  ) -> PublishedTask<Void, NATSError> {
    if let error = invalidName { return .failure(error) }
    var config = StreamConfig(
      stream.name, subjects: [subject(of: ">")],
      mirror: mirror.map { StreamConfig.Mirror($0, prefix: "KV_") }, maxAge: options.maxAge,
      maxBytes: options.maxBytes, inMemory: options.inMemory, replicas: options.replicas)
    config.maxMsgsPerSubject = options.history
    (config.allowRollupHdrs, config.denyDelete, config.allowDirect) = (true, true, true)
    config.discard = "new"
    // A server before 2.11 ignores it. A mirror inherits the messages of its origin.
    config.allowMsgTtl = mirror == nil ? true : nil
    return core.create(config, in: stream.domain)
  }

  /// Removes the bucket with all its values.
  public func remove() -> PublishedTask<Void, NATSError> {
    invalidName.map { .failure($0) } ?? core.removeStream(stream)
  }

  /// The reason why a bucket cannot have this name or its mirror's name, or `nil`.
  var invalidName: NATSError? {
    for name in [name, mirror?.name ?? name] {
      let isValid =
        !name.isEmpty
        && name.utf8.allSatisfy { byte in
          switch byte {
          case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
          default: false
          }
        }
      if !isValid { return .invalidSubject(name) }
    }
    return nil
  }

  /// Writes a value and returns its revision.
  ///
  /// - Parameters:
  ///   - value: A value, encoded as ``NATSConnection/publish(_:on:headers:replySubject:)`` encodes
  ///     it.
  ///   - key: A key of letters, digits, and `-/_=.`.
  ///   - revision: The revision to replace. If the key has a newer revision, the task fails with
  ///     ``NATSError/revision(_:)``. ``NATSRevision/none`` requires a key that never had a value.
  ///     `nil`, the default, replaces any revision.
  public func put<Value: Codable & Sendable>(
    _ value: Value, for key: String, replacing revision: NATSRevision? = nil
  ) -> PublishedTask<NATSRevision, NATSError> {
    do throws(NATSError) {
      let data = try Codec.data(of: value)
      return write(data, for: key, [:], replacing: revision)
    } catch {
      return .failure(error)
    }
  }

  /// Deletes a key and returns the revision of the deletion.
  ///
  /// - Parameters:
  ///   - key: A key of letters, digits, and `-/_=.`.
  ///   - revision: The revision to delete, as in ``put(_:for:replacing:)``.
  public func delete(
    _ key: String, replacing revision: NATSRevision? = nil
  ) -> PublishedTask<NATSRevision, NATSError> {
    write(Data(), for: key, ["KV-Operation": "DEL"], replacing: revision)
  }

  /// Deletes a key with all its revisions, and returns the revision of the deletion.
  ///
  /// ``delete(_:replacing:)`` keeps the earlier revisions, up to ``NATSBucketOptions/history``.
  ///
  /// - Parameters:
  ///   - key: A key of letters, digits, and `-/_=.`.
  ///   - revision: The revision to delete, as in ``put(_:for:replacing:)``.
  public func purge(
    _ key: String, replacing revision: NATSRevision? = nil
  ) -> PublishedTask<NATSRevision, NATSError> {
    write(
      Data(), for: key, ["KV-Operation": "PURGE", "Nats-Rollup": "sub"], replacing: revision)
  }

  func write(
    _ data: Data, for key: String, _ headers: NATSHeaders, replacing revision: NATSRevision?
  ) -> PublishedTask<NATSRevision, NATSError> {
    if let error = invalidName { return .failure(error) }
    if !isValid(key) { return .failure(.invalidSubject(key)) }
    var headers = headers
    if let revision { headers["Nats-Expected-Last-Subject-Sequence"] = "\(revision.number)" }
    // The server maps the subjects of another domain by this prefix.
    let prefix = origin.domain == nil ? "" : origin.prefix
    return core.append(
      data, to: origin, on: subject(of: key), prefix: prefix, headers: headers
    ).map { NATSRevision($0) }
  }

  func isValid(_ key: String) -> Bool {
    !key.isEmpty && !key.hasPrefix(".") && !key.hasSuffix(".") && !key.contains("..")
      && key.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2F, 0x5F, 0x3D, 0x2E: true
        default: false
        }
      }
  }
}
#endif

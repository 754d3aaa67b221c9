public import MiniRex

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A bucket of keys and values that a server keeps, with JetStream.
///
/// ```swift
/// let config = nats.bucket("config")
/// let theme = config.publishedValue(of: Theme.self, for: "theme")
/// let written = config.put(Theme.dark, for: "theme")
/// ```
///
/// It keeps no connection. Other clients of NATS know it as a key-value store of that name.
public struct NATSBucket: Sendable {
  let link: Link

  /// What it is called.
  public let name: String

  var stream: String { "KV_\(name)" }

  func subject(of key: String) -> String { "$KV.\(name).\(key)" }
}

extension NATSConnection {
  /// The bucket of that name, if there is one by the time it is used; see ``NATSBucket/create(_:)``.
  public func bucket(_ name: String) -> NATSBucket {
    NATSBucket(link: link, name: name)
  }
}

/// How a bucket keeps its values.
public struct NATSBucketOptions: Sendable {
  /// How many revisions of each key are kept: 1.
  public var history = 1
  /// After which a value is gone; `nil` for never.
  public var maxAge: Duration?
  /// How many bytes there may be in all; `nil` for no limit of its own.
  public var maxBytes: Int?
  /// On how many servers of a cluster it is kept: 1.
  public var replicas = 1
  /// If it is kept in memory only, and lost with the server; false.
  public var inMemory = false

  /// Makes options with their defaults.
  public init() {}
}

extension NATSBucket {
  /// Makes the bucket, or finds that it is there with these options already.
  ///
  /// It fails if there is one with others. Nothing is done before somebody subscribes.
  public func create(
    _ options: NATSBucketOptions = NATSBucketOptions()
  ) -> PublishedTask<Void, NATSError> {
    var config = StreamConfig(
      stream, subjects: [subject(of: ">")], maxAge: options.maxAge, maxBytes: options.maxBytes,
      inMemory: options.inMemory, replicas: options.replicas)
    config.maxMsgsPerSubject = options.history
    (config.allowRollupHdrs, config.denyDelete, config.allowDirect) = (true, true, true)
    config.discard = "new"
    return link.create(config)
  }

  /// Removes the bucket with all that is in it.
  public func remove() -> PublishedTask<Void, NATSError> {
    link.removeStream(stream)
  }

  /// Writes a value, and gives its revision.
  ///
  /// - Parameters:
  ///   - value: Encoded like what is published.
  ///   - key: Of letters, digits and `-/_=.`.
  ///   - revision: The one that this value is to replace; if somebody else was first, it fails with
  ///     ``NATSError/revision(_:)``. ``Revision/none`` stands for a key that never had a value; `nil`
  ///     replaces whatever is there.
  public func put<Value: Codable & Sendable>(
    _ value: Value, for key: String, replacing revision: Revision? = nil
  ) -> PublishedTask<Revision, NATSError> {
    do throws(NATSError) {
      let data = try Codec.data(of: value)
      return write(data, for: key, [:], replacing: revision)
    } catch {
      return .failure(error)
    }
  }

  /// Deletes a key, and gives the revision that says so.
  ///
  /// - Parameters:
  ///   - key: Of letters, digits and `-/_=.`.
  ///   - revision: The one that is to be deleted, as for ``put(_:for:replacing:)``.
  public func delete(
    _ key: String, replacing revision: Revision? = nil
  ) -> PublishedTask<Revision, NATSError> {
    write(Data(), for: key, ["KV-Operation": "DEL"], replacing: revision)
  }

  private func write(
    _ data: Data, for key: String, _ headers: NATSHeaders, replacing revision: Revision?
  ) -> PublishedTask<Revision, NATSError> {
    if !isValid(key) { return .failure(.invalidSubject(key)) }
    var headers = headers
    if let revision { headers["Nats-Expected-Last-Subject-Sequence"] = "\(revision.number)" }
    return link.append(data, to: stream, on: subject(of: key), headers: headers)
      .map { Revision($0) }
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

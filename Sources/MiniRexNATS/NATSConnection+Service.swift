#if NATS
public import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension NATSConnection {
  /// Answers the requests of a service that any NATS tool can discover, until the subscription is canceled.
  ///
  /// ```swift
  /// let calculator = nats.service("calc", version: "1.2.3") {
  ///   $0.endpoint("add", on: "calc.add") { (numbers: [Int]) in
  ///     PublishedTask<Int, Never> { numbers.reduce(0, +) }
  ///   }
  /// }
  /// ```
  ///
  /// It follows the protocol `io.nats.micro.v1`: the subjects `$SRV.PING`, `$SRV.INFO`, and `$SRV.STATS`
  /// answer for all services, followed by `.NAME` for one service, and by `.NAME.ID` for one process.
  /// `nats micro ls` lists it. See ``reply(on:queue:_:)`` for concurrency and cancellation.
  ///
  /// - Parameters:
  ///   - name: The name, of letters, digits, `-`, and `_`. Traps on another name.
  ///   - version: A semantic version such as `1.2.3`. Traps on other text.
  ///   - text: A description for the reader of a list. The default is empty.
  ///   - metadata: Further properties. The default is empty.
  ///   - endpoints: A closure that adds the endpoints. It runs before the method returns.
  public func service(
    _ name: String, version: String, description text: String = "",
    metadata: [String: String] = [:], _ endpoints: (inout NATSService) -> Void
  ) -> Subscription {
    service(
      name, id: UUID().uuidString, version: version, description: text, metadata: metadata,
      endpoints)
  }

  /// Answers the requests of a service whose process has the given identifier.
  package func service(
    _ name: String, id: String, version: String, description text: String,
    metadata: [String: String], _ endpoints: (inout NATSService) -> Void
  ) -> Subscription {
    NATSService.requireName(name, of: "service")
    let numbers = version.prefix { $0 != "-" && $0 != "+" }.split(
      separator: ".", omittingEmptySubsequences: false)
    if numbers.count != 3 || !numbers.allSatisfy({ Int($0).map { $0 >= 0 } ?? false }) {
      misuse("'service' requires a semantic version such as '1.2.3', not '\(version)'.")
    }
    var service = NATSService(core)
    endpoints(&service)
    let report = ServiceReport(
      name: name, id: id, version: version, description: text, metadata: metadata,
      endpoints: service.endpoints)
    // A tool may send a request as soon as it has discovered the service.
    var subscriptions = service.endpoints.map { $0.start() }
    for verb in ServiceReport.Verb.allCases {
      for subject in report.subjects(of: verb) {
        subscriptions.append(
          core.subscribe(to: subject, queue: nil) { [weak core] message in
            if let replySubject = message.replySubject {
              core?.sendText(replySubject, report.text(for: verb))
            }
          })
      }
    }
    return Subscription { [subscriptions] in
      for subscription in subscriptions.reversed() { subscription.invalidate() }
    }
  }
}

/// The endpoints of a service, while it is created.
public struct NATSService: Sendable {
  private let core: ConnectionCore
  private(set) var endpoints: [ServiceEndpoint] = []

  fileprivate init(_ core: ConnectionCore) { self.core = core }

  static func requireName(_ name: String, of method: StaticString) {
    let isValid =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
    if !isValid {
      misuse("'\(method)' requires a name of letters, digits, '-', and '_', not '\(name)'.")
    }
  }

  /// Answers the requests on a subject.
  ///
  /// See ``NATSConnection/reply(on:queue:_:)``. A request that cannot be decoded and a failure count as
  /// errors in `$SRV.STATS`.
  ///
  /// - Parameters:
  ///   - name: The name, of letters, digits, `-`, and `_`. Traps on another name.
  ///   - subject: A subject, which may have wildcards, or `nil`, the default, for the name.
  ///   - queue: The queue group that shares the requests. The default is `q`, as in other clients.
  ///   - metadata: Further properties. The default is empty.
  ///   - answer: A closure that creates the task for a request. It runs on a thread of libnats.
  public mutating func endpoint<
    Request: Codable & Sendable, Answer: Codable & Sendable, Failure: Error
  >(
    _ name: String, on subject: String? = nil, queue: String = "q",
    metadata: [String: String] = [:],
    _ answer: @escaping @Sendable (Request) -> PublishedTask<Answer, Failure>
  ) {
    Self.requireName(name, of: "endpoint")
    let (subject, core) = (subject ?? name, core)
    let counters = ServiceCounters()
    let start: @Sendable () -> Subscription = {
      core.serve(on: subject, queue: queue) { (data: Data, asked) in
        let began = ContinuousClock.now
        @Sendable func finish(_ result: Result<Answer, any Error>) {
          counters.count(result, took: ContinuousClock.now - began)
          asked.finish(result)
        }
        do throws(NATSError) {
          let request = try data.bytes.withUnsafeBytes { (bytes) throws(NATSError) in
            try Codec<Request>.decode(bytes)
          }
          return answer(request).subscribe { result in
            finish(result.mapError { $0 })
          } onEnd: {
            asked.end()
          }
        } catch {
          core.report(.undecodable(subject: subject, reason: "\(error)"))
          finish(.failure(NATSError.refused(code: 400, message: "\(error)")))
          return .ended
        }
      }
    }
    endpoints.append(
      ServiceEndpoint(
        name: name, subject: subject, queue: queue, metadata: metadata, counters: counters,
        start: start))
  }
}
#endif

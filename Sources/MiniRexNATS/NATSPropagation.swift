#if NATS
import MiniRex

/// The transport of a context, such as a trace, in the headers of messages.
///
/// Use ``w3c``, or connect a tracing library. This connects `swift-distributed-tracing`, with `Carrier`
/// as its injector and extractor for ``NATSHeaders``:
///
/// ```text
/// options.propagation = NATSPropagation { headers in
///   if let context = ServiceContext.current {
///     InstrumentationSystem.instrument.inject(context, into: &headers, using: Carrier())
///   }
/// } extract: { headers, run in
///   var context = ServiceContext.topLevel
///   InstrumentationSystem.instrument.extract(headers, into: &context, using: Carrier())
///   ServiceContext.withValue(context, operation: run)
/// }
/// ```
public struct NATSPropagation: Sendable {
  let inject: @Sendable (_ headers: inout NATSHeaders) -> Void
  let extract: @Sendable (_ headers: NATSHeaders, _ run: () -> Void) -> Void

  /// Creates a propagation from two closures.
  ///
  /// - Parameters:
  ///   - inject: Adds the current context to the headers of a message. It runs on the thread that
  ///     publishes, requests, appends, or puts.
  ///   - extract: Runs a callback in the context of the received headers. It must call `run` exactly once,
  ///     synchronously. It runs on the thread of the callback.
  public init(
    inject: @escaping @Sendable (_ headers: inout NATSHeaders) -> Void,
    extract: @escaping @Sendable (_ headers: NATSHeaders, _ run: () -> Void) -> Void
  ) {
    (self.inject, self.extract) = (inject, extract)
  }

  /// Transports ``TraceContext/current`` in the headers `traceparent` and `tracestate`.
  ///
  /// Callbacks run in a ``TraceContext/child()`` of the received context. They have no context if the
  /// headers are absent or invalid. Headers that you set yourself are sent unchanged.
  ///
  /// Its first use calls `Context.carry(TraceContext.$current)`, so a message that is published for a
  /// queued update has the context of the update's sender.
  public static let w3c: NATSPropagation = {
    Context.carry(TraceContext.$current)
    return NATSPropagation { headers in
      guard let context = TraceContext.current, headers["traceparent"] == nil else { return }
      headers["traceparent"] = context.traceparent
      headers["tracestate"] = context.state
    } extract: { headers, run in
      let states = headers.values(of: "tracestate").filter { !$0.isEmpty }.joined(separator: ",")
      let parents = headers.values(of: "traceparent")
      let context =
        parents.count == 1 ? TraceContext(traceparent: parents[0], tracestate: states) : nil
      TraceContext.$current.withValue(context?.child(), operation: run)
    }
  }()
}

extension ConnectionCore {
  /// Returns the headers with the current context of the caller.
  func propagating(_ headers: NATSHeaders) -> NATSHeaders {
    guard let propagation = options.propagation else { return headers }
    var headers = headers
    propagation.inject(&headers)
    return headers
  }

  /// Runs a callback in the context of a received message.
  @inline(__always)
  func inContext(of message: RawMessage, _ run: () -> Void) {
    if options.propagation == nil { return run() }
    inContext(of: message.headers, run)
  }

  func inContext(of headers: NATSHeaders, _ run: () -> Void) {
    guard let propagation = options.propagation else { return run() }
    propagation.extract(headers, run)
  }
}

extension NATSStream {
  /// Returns the headers with the current context of the caller.
  package func propagating(_ headers: NATSHeaders) -> NATSHeaders { core.propagating(headers) }
}
#endif

#if NATS
internal import Dispatch
internal import Foundation
public import MiniRex
internal import MiniRexDispatchAdapters
internal import MiniRexInspector
public import MiniRexNATS
public import MiniRexStore

/// The membership of this process in a fleet, whose pages show it.
///
/// ```swift
/// let member = FleetMember(
///   of: "production", over: nats, name: "billing", version: "1.4.2", inspecting: graph)
/// member.ready(when: nats.isReady, name: "nats")
/// ```
///
/// The process is a service named `minirex`, which tools of NATS list, and reports every 2 seconds: its name, version,
/// host, uptime, readiness, memory, processor time, last trouble, replicas, and subscriptions. A report is a message of
/// at most 2 KiB, which no stream stores. Without a connection, it is omitted.
///
/// Retain the member. Releasing it leaves the fleet, so release it before you close the connection. It retains the
/// connection. It does not retain stores and replicas. The program's code runs on its queues: the transforms of
/// the values of ``ready(when:name:)``, and with `inspecting:` the encoders of the watched states.
public final class FleetMember: Sendable {
  /// The identifier of the member, the same as the identifier of the service.
  ///
  /// It is random, and new for each member.
  public let id: String

  let core: MemberCore

  /// Joins a fleet.
  ///
  /// - Parameters:
  ///   - fleet: The name of the fleet, of letters, digits, `-`, and `_`. Traps on another name.
  ///   - nats: The connection that transports the reports.
  ///   - name: The name of the program, the same in all its processes. More than 64 bytes are omitted.
  ///   - version: The version of the program, such as `1.4.2`. Traps on text that is not a semantic version.
  ///   - graph: The graph whose subscriptions the reports contain, and whose inspector the pages open. Every process
  ///     with permission to publish on `_MINIREX.inspect.>` can then read it, and the states of watched stores. The
  ///     default is `nil`, for no inspector.
  public init(
    of fleet: String, over nats: NATSConnection, name: String, version: String,
    inspecting graph: LiveGraph? = nil
  ) {
    FleetSubject.requireFleet(fleet, of: "FleetMember")
    let id = UUID().uuidString
    self.id = id
    core = withInstrument(Unwatched()) {
      MemberCore(id, of: fleet, over: nats, name: name, version: version, inspecting: graph)
    }
  }

  deinit { core.end() }

  /// Shows the commits of a store or a scope in the inspector.
  ///
  /// It does nothing without `inspecting:`. Otherwise it works like `Inspector.watch(_:name:earlierCommits:alwaysRecords:)`.
  ///
  /// - Parameters:
  ///   - store: The store to show.
  ///   - name: The name in the inspector. The default is the name of the store, or the type of the state if no
  ///     instrument observes the store.
  public func watch<State, Action>(_ store: Store<State, Action>, name: String? = nil) {
    core.endpoint?.inspector.watch(store, name: name)
  }

  /// Adds a condition of the readiness of the process.
  ///
  /// Without a condition, the process is ready. Otherwise it is ready while all conditions are `true`. The pages show the
  /// names of the conditions that are `false`, of the first four. The member reads the value every 2 seconds on its
  /// queue, and does not subscribe. It retains the publisher. The condition also decides about `/ready` of the
  /// inspector.
  ///
  /// - Parameters:
  ///   - isReady: The value that must be `true`.
  ///   - name: The name on the page. The default is `condition`.
  public func ready(when isReady: PublishedValue<Bool>, name: String = "condition") {
    core.addCondition(name) { isReady.current() == true }
    core.endpoint?.inspector.ready(when: isReady, name: name)
  }
}
#endif

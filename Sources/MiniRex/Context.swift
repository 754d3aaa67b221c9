/// The task-local values that updates carry from their senders to their subscribers.
///
/// ```swift
/// Context.carry(RequestID.$current)
/// ```
///
/// A subscriber that runs on the sender's stack sees the sender's task-local values. An update that
/// another thread delivers, or that a queue, an actor, or a clock delivers later, would see the
/// values of that thread. Carried values are bound around such a delivery. See <doc:DeliveryRules>,
/// rule R44.
public enum Context {
  /// Carries task-locals from now on, in the entire process.
  ///
  /// Call it once, at the start of the program. Without a carried task-local, an update that is
  /// queued costs one load more. With carried task-locals, a queued update retains their values
  /// until it is delivered, and costs one allocation more.
  public static func carry<each Value: Sendable>(_ local: repeat TaskLocal<each Value>) {
    var added: [CarriedLocal] = []
    for local in repeat each local { added.append(CarriedLocal(local)) }
    CarriedLocals.add(added)
  }
}

/// Carries task-locals while `body` runs, in the entire process.
///
/// Use it in tests, which may run concurrently. Updates that are queued during that time keep their
/// values. See ``Context``.
public func withCarried<each Value: Sendable, Result, Failure: Error>(
  _ local: repeat TaskLocal<each Value>, operation body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
  var added: [CarriedLocal] = []
  for local in repeat each local { added.append(CarriedLocal(local)) }
  CarriedLocals.add(added)
  defer { CarriedLocals.remove(added) }
  return try await body()
}

/// Carries task-locals while `body` runs, in the entire process.
///
/// See the asynchronous overload.
public func withCarried<each Value: Sendable, Result, Failure: Error>(
  _ local: repeat TaskLocal<each Value>, operation body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  var added: [CarriedLocal] = []
  for local in repeat each local { added.append(CarriedLocal(local)) }
  CarriedLocals.add(added)
  defer { CarriedLocals.remove(added) }
  return try body()
}

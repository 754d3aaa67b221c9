public import Synchronization

/// Installs an instrument for sources created by `body`, and by the Swift tasks that `body` starts.
///
/// The instrument observes these sources for their lifetime. It is a task-local value: concurrent
/// tests do not affect each other. Threads and `Task.detached` do not inherit it.
public func withInstrument<Success, Failure: Error>(
  _ instrument: any Instrument, _ body: () throws(Failure) -> Success
) throws(Failure) -> Success {
  CurrentInstrument.isKnown.store(true, ordering: .relaxed)
  let result = CurrentInstrument.$ofTask.withValue(instrument) {
    Result<Success, Failure> { () throws(Failure) in try body() }
  }
  return try result.get()
}

/// Installs an instrument for sources created by `body`, and by the Swift tasks that `body` starts.
///
/// See the synchronous overload.
public func withInstrument<Success, Failure: Error>(
  _ instrument: any Instrument, _ body: () async throws(Failure) -> Success
) async throws(Failure) -> Success {
  CurrentInstrument.isKnown.store(true, ordering: .relaxed)
  let result = await CurrentInstrument.$ofTask.withValue(instrument) { await outcome(of: body) }
  return try result.get()
}

/// Installs an instrument for all sources created later, on any thread, for the rest of the
/// process.
///
/// Call it once, at the start of the program, before it creates its sources. Traps on a second
/// call. For a limited scope, use `withInstrument`.
public func setDefaultInstrument(_ instrument: any Instrument) {
  let isFirst = CurrentInstrument.ofProcess.withLock { current in
    if current != nil { return false }
    current = instrument
    return true
  }
  if !isFirst {
    misuse(
      "'setDefaultInstrument' was called twice. Call it once at the start of the program. "
        + "For a limited scope use 'withInstrument'.")
  }
  CurrentInstrument.isKnown.store(true, ordering: .releasing)
}

/// The instrument for sources that are created now.
@usableFromInline
package enum CurrentInstrument {
  @TaskLocal static var ofTask: (any Instrument)?
  static let ofProcess = Lock<(any Instrument)?>(nil)
  /// `false` until the first instrument exists, so that creating a source costs one load without
  /// instruments.
  @usableFromInline static let isKnown = Atomic(false)

  package static var current: (any Instrument)? {
    guard isKnown.load(ordering: .acquiring) else { return nil }
    return ofTask ?? ofProcess.withLock { $0 }
  }
}

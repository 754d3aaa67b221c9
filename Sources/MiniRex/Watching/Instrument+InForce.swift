public import Synchronization

/// Lets an instrument watch what is made by `body`, and by the Swift tasks that it starts.
///
/// It watches the sources that are made meanwhile, for as long as they live. It is a task-local
/// value: tests that run side by side do not see each other's, and neither threads nor
/// `Task.detached` see it.
public func withInstrument<Success, Failure: Error>(
  _ instrument: any Instrument, _ body: () throws(Failure) -> Success
) throws(Failure) -> Success {
  InstrumentInForce.isKnown.store(true, ordering: .relaxed)
  let result = InstrumentInForce.$ofTask.withValue(instrument) {
    Result<Success, Failure> { () throws(Failure) in try body() }
  }
  return try result.get()
}

/// Lets an instrument watch what is made by `body`, and by the Swift tasks that it starts.
///
/// It is like the form that does not wait.
public func withInstrument<Success, Failure: Error>(
  _ instrument: any Instrument, _ body: () async throws(Failure) -> Success
) async throws(Failure) -> Success {
  InstrumentInForce.isKnown.store(true, ordering: .relaxed)
  let result = await InstrumentInForce.$ofTask.withValue(instrument) { await outcome(of: body) }
  return try result.get()
}

/// Lets an instrument watch what is made from now on, by any thread, for the rest of the process.
///
/// Call it once, when the program starts and before it makes its sources: a second call stops the
/// program. For part of it there is `withInstrument`.
public func setDefaultInstrument(_ instrument: any Instrument) {
  let isFirst = InstrumentInForce.ofProcess.withLock { current in
    if current != nil { return false }
    current = instrument
    return true
  }
  if !isFirst {
    misuse(
      "'setDefaultInstrument' was called twice. Call it once when the program starts; "
        + "for a part of it use 'withInstrument'.")
  }
  InstrumentInForce.isKnown.store(true, ordering: .releasing)
}

/// Which instrument watches what is made now.
@usableFromInline
package enum InstrumentInForce {
  @TaskLocal static var ofTask: (any Instrument)?
  static let ofProcess = Lock<(any Instrument)?>(nil)
  /// False while there has never been one, so that making a source costs no more than this look.
  @usableFromInline static let isKnown = Atomic(false)

  package static var current: (any Instrument)? {
    guard isKnown.load(ordering: .acquiring) else { return nil }
    return ofTask ?? ofProcess.withLock { $0 }
  }
}

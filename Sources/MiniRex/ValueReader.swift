/// Reads published values in the closure of a computed value, which then depends on them.
///
/// See ``Publisher/computed(name:instrument:fileID:line:_:)``. It is valid during one run of the closure.
public struct ValueReader: ~Copyable {
  @usableFromInline let session: ReadSession
  @usableFromInline let run: UInt

  @usableFromInline
  init(_ session: ReadSession) {
    self.session = session
    run = unsafe session.frame.id
  }

  /// Reads a published value.
  ///
  /// All reads of one run agree: a value that another thread changes during the run is read in the
  /// same state again, even through other computed values and through `map`, `removeDuplicates`,
  /// `combineLatest`, and `switchToLatest`. Traps if the published value has no current value, as
  /// after `receive(on:)` and `delay`.
  @inlinable
  public mutating func callAsFunction<Value>(_ value: PublishedValue<Value>) -> Value {
    checkRun()
    if let lineage = value.lineage { session.note(lineage) }
    guard let value = session.read(value) else {
      misuse(
        "A published value without a current value was read. It emits its first value later, "
          + "because it passes through 'receive(on:)', 'delay', or the like. "
          + "Use 'publishedValue(initial:)' to give it one.")
    }
    return value
  }

  /// Reads a property.
  ///
  /// See the overload for a published value.
  @inlinable
  public mutating func callAsFunction<Value>(_ property: PublishedProperty<Value>) -> Value {
    checkRun()
    if let lineage = property.publisher.lineage { session.note(lineage) }
    return session.read(property.storage)
  }

  /// Traps if the reader is used outside its run.
  @inlinable
  func checkRun() {
    if unsafe session.frame.id != run {
      misuse(
        "A ValueReader was used outside the run that it belongs to. "
          + "Use the reader that is the parameter of the innermost closure.")
    }
  }
}

/// Collects the writes of a call of ``together(_:)``.
///
/// ```swift
/// together { set in
///   set(width, to: 4)
///   set(height, to: 3)
/// }
/// ```
public struct ValueSetter: ~Copyable {
  private var writes: [any PropertyWrite] = []

  init() {}

  /// Sets the value of a property when the closure returns.
  ///
  /// The property keeps its present value until then. A later write to the same property replaces
  /// an earlier one.
  public mutating func callAsFunction<Value>(
    _ property: PublishedProperty<Value>, to value: Value
  ) {
    let write = TypedPropertyWrite(value, to: property)
    if let index = writes.firstIndex(where: { $0.address == write.address }) {
      writes[index] = write
    } else {
      writes.append(write)
    }
  }

  /// Writes all values, then delivers them in the order of the calls.
  consuming func apply() {
    if writes.isEmpty { return }
    let batch = WriteBatch(writes: writes.count)
    let ordered = writes.sorted { $0.address < $1.address }
    for write in ordered { write.begin() }
    let places = ordered.compactMap { $0.write() }
    let place = places.count == 1 ? places[0] : ChangeLog.severalPlaces
    // One time for all of them, so that every reader finds all or none.
    let time = places.isEmpty ? 0 : ChangeClock.tick(place)
    for write in ordered { write.end(batch, at: time) }
    for write in writes { write.deliver(batch) }
    batch.leave()
  }
}

/// Sets several properties, so that computed values and combinations emit once for all of them.
///
/// ```swift
/// let size = combineLatest(width.publisher, height.publisher)
/// together { set in
///   set(width, to: 4)
///   set(height, to: 3)
/// }  // `size` emits (4, 3), and never (4, 2)
/// ```
///
/// All values are set before any subscriber runs. Then each property delivers to its own
/// subscribers, in the order of the writes, and computed values and combinations follow. If another
/// thread is delivering one of the properties, that thread delivers its new value, and the last of
/// the threads lets them follow.
///
/// If `writes` throws, nothing is set. Traps if `writes` calls `together`, or if it runs inside a
/// `modify` of one of the properties. Two threads that set the same properties do not deadlock. A
/// `modify` on another thread that waits for one of the properties deadlocks as two nested calls of
/// `modify` do.
///
/// - Parameter writes: A closure that collects the writes. It runs once, on the calling thread.
/// - Returns: The result of `writes`.
public func together<Result, Failure: Error>(
  _ writes: (inout ValueSetter) throws(Failure) -> Result
) throws(Failure) -> Result {
  var setter = ValueSetter()
  let result = try WriteCollection.run { () throws(Failure) in try writes(&setter) }
  setter.apply()
  return result
}

/// Detects a nested call of `together`.
private enum WriteCollection {
  private static let ofThread = ThreadLocalAddress<Bool>()

  static func run<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if unsafe ofThread.value != nil {
      misuse(
        "'together' was called inside the closure of 'together'. "
          + "Use the 'set' parameter of the outer call, or call it after the outer call.")
    }
    var isCollecting = true
    return try unsafe withUnsafeMutablePointer(to: &isCollecting) { pointer throws(Failure) in
      unsafe ofThread.value = pointer
      defer { unsafe ofThread.value = nil }
      return try body()
    }
  }
}

/// The threads that wait for one value.
///
/// The lock of the value guards it. Threads wait and are woken outside the lock, and then check
/// again.
@usableFromInline
package struct ParkedThreads: Sendable {
  private var parkings: [Parking] = []

  package init() {}

  /// Adds the calling thread, which then waits.
  package mutating func park() -> Parking {
    let parking = Parking()
    parkings.append(parking)
    return parking
  }

  /// Returns all threads, which the caller wakes, and forgets them.
  package mutating func takeAll() -> ParkedThreads {
    defer { parkings = [] }
    return self
  }

  package func wake() {
    for parking in parkings { parking.open() }
  }
}

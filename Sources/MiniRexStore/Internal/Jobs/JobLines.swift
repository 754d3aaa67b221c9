/// The number of each line of jobs that wait for each other, by the key of its jobs.
///
/// A key is compared and hashed by user code, so it is replaced by a number outside the lock.
struct JobLines {
  private var numbers: [AnyHashable: Int] = [:]
  private var last = 0

  mutating func number(of key: AnyHashable) -> Int {
    if let number = numbers[key] { return number }
    last += 1
    numbers[key] = last
    return last
  }

  /// Returns `true` if most keys are unused.
  func isLarge(beside used: Int) -> Bool { numbers.count > 2 * used + 1_024 }

  mutating func forget(except used: Set<Int>) {
    numbers = numbers.filter { used.contains($0.value) }
  }
}

/// The reads of a session, in the order of the reads.
///
/// It retains their objects until a list takes them. The session that owns the buffer frees it.
@safe @usableFromInline
struct DependencyBuffer {
  private var elements: UnsafeMutablePointer<Dependency>?
  private var capacity = 0
  @usableFromInline private(set) var count = 0

  func free() {
    for index in 0..<count { self[index].release() }
    unsafe elements?.deallocate()
  }

  subscript(index: Int) -> Dependency { unsafe elements.unsafelyUnwrapped[index] }

  @usableFromInline
  mutating func append(_ dependency: Dependency) {
    if count == capacity { grow() }
    unsafe elements.unsafelyUnwrapped[count] = dependency
    count += 1
  }

  private mutating func grow() {
    capacity = max(8, 2 * capacity)
    let larger = UnsafeMutablePointer<Dependency>.allocate(capacity: capacity)
    if let elements = unsafe elements {
      unsafe larger.moveInitialize(from: elements, count: count)
      unsafe elements.deallocate()
    }
    unsafe elements = larger
  }

  mutating func removeAll(from start: Int) -> DependencyList {
    defer { count = start }
    return DependencyList(count: count - start) { self[start + $0] }
  }
}

public import Synchronization

// For a variable that the lock or the exclusive access of another object guards. It is atomic, so that
// the compiler can check the class that has it. A relaxed load or store is a plain instruction.

extension Atomic<Bool> {
  @inlinable
  package var relaxed: Bool {
    get { load(ordering: .relaxed) }
    nonmutating set { store(newValue, ordering: .relaxed) }
  }
}

extension Atomic<Int> {
  @inlinable
  package var relaxed: Int {
    get { load(ordering: .relaxed) }
    nonmutating set { store(newValue, ordering: .relaxed) }
  }
}

extension Atomic<UInt> {
  @inlinable
  package var relaxed: UInt {
    get { load(ordering: .relaxed) }
    nonmutating set { store(newValue, ordering: .relaxed) }
  }
}

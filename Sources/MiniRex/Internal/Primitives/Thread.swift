// The only file of this module besides `Parking.swift` that uses the C library.
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The identity of a thread, unique during its lifetime.
@usableFromInline
package struct ThreadID: Hashable, Sendable {
  /// The address of the platform's thread structure.
  ///
  /// It is even, and greater than 2.
  @usableFromInline package let rawValue: UInt

  @inlinable
  package init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  @usableFromInline
  package static var current: ThreadID {
    #if canImport(Glibc)
    ThreadID(rawValue: UInt(pthread_self()))
    #elseif canImport(Android)
    // A number that may be negative.
    ThreadID(rawValue: UInt(bitPattern: pthread_self()))
    #else
    unsafe ThreadID(rawValue: UInt(bitPattern: pthread_self()))
    #endif
  }
}

extension ThreadID {
  /// `true` on the thread that the platform reserves for the main actor, where one exists.
  static var isMain: Bool {
    #if canImport(Darwin)
    pthread_main_np() != 0
    #else
    false
    #endif
  }
}

/// A thread-local reference, `nil` until it is set.
///
/// A caller that sets it restores it before it returns, so a thread that ends retains no object.
struct ThreadLocal<Object: AnyObject>: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    self.key = key
  }

  /// The value is not retained.
  var value: Object? {
    get {
      unsafe pthread_getspecific(key).map {
        unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue()
      }
    }
    nonmutating set {
      unsafe pthread_setspecific(
        key, newValue.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    }
  }
}

/// A thread-local address of a variable on the stack, `nil` until it is set.
///
/// A caller that sets it restores it before the variable goes out of scope.
struct ThreadLocalAddress<Variable>: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    self.key = key
  }

  var value: UnsafeMutablePointer<Variable>? {
    get { unsafe pthread_getspecific(key)?.assumingMemoryBound(to: Variable.self) }
    nonmutating set { unsafe pthread_setspecific(key, newValue) }
  }
}

/// The time of the system's clock, in milliseconds since 1970.
package func millisecondsSince1970() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

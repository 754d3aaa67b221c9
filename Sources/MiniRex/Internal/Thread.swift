// The only file of the module that asks the C library for anything.
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Which thread this is, for as long as the thread lives.
@usableFromInline
package struct ThreadID: Hashable, Sendable {
  /// The address of what the platform keeps of the thread, so it is even, and more than 2.
  @usableFromInline package let rawValue: UInt

  @inlinable
  package init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  @usableFromInline
  package static var current: ThreadID {
    #if canImport(Glibc)
      ThreadID(rawValue: UInt(pthread_self()))
    #else
      unsafe ThreadID(rawValue: UInt(bitPattern: pthread_self()))
    #endif
  }
}

extension ThreadID {
  /// True on the thread that the platform reserves for the main actor, where there is one.
  static var isMain: Bool {
    #if canImport(Darwin)
      pthread_main_np() != 0
    #else
      false
    #endif
  }
}

/// A place for one thread to sleep until another says go.
///
/// Unchecked: `isOpen` is only touched under the `mutex` beside it.
@safe package final class Parking: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isOpen = false

  package init() {
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  package func wait() {
    unsafe pthread_mutex_lock(mutex)
    while !isOpen { unsafe pthread_cond_wait(condition, mutex) }
    unsafe pthread_mutex_unlock(mutex)
  }

  package func open() {
    unsafe pthread_mutex_lock(mutex)
    isOpen = true
    unsafe pthread_cond_signal(condition)
    unsafe pthread_mutex_unlock(mutex)
  }
}

/// One reference for each thread, `nil` until it is set.
///
/// Whoever sets it sets it back before it returns, so that there is nothing left when a thread
/// ends.
struct ThreadLocal<Object: AnyObject>: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    self.key = key
  }

  /// It is not kept alive from here.
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

/// The address of a variable on each thread's own stack, `nil` until it is set.
///
/// Whoever sets it sets it back before the variable goes.
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

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase
// The part of Darwin that Swift adds to the C library, for type-checking on Linux.
@_exported public import CDarwin

public var errno: Int32 {
  get { unsafe __error().pointee }
  set { unsafe __error().pointee = newValue }
}

public enum POSIXErrorCode: Int32, Sendable {
  case EPERM = 1
  case ENOENT = 2
  case EINTR = 4
  case EIO = 5
  case EBADF = 9
  case ENOMEM = 12
  case EACCES = 13
  case EEXIST = 17
  case EXDEV = 18
  case ENOTDIR = 20
  case EISDIR = 21
  case EINVAL = 22
  case ENOSPC = 28
  case EROFS = 30
  case EAGAIN = 35
  case EOVERFLOW = 84

  public static var EWOULDBLOCK: POSIXErrorCode { .EAGAIN }
}

public var CLOCK_REALTIME: clockid_t { _CLOCK_REALTIME }
public var CLOCK_THREAD_CPUTIME_ID: clockid_t { _CLOCK_THREAD_CPUTIME_ID }

public var S_IFMT: mode_t { 0o170_000 }
public var S_IFIFO: mode_t { 0o010_000 }
public var S_IFCHR: mode_t { 0o020_000 }
public var S_IFDIR: mode_t { 0o040_000 }
public var S_IFBLK: mode_t { 0o060_000 }
public var S_IFREG: mode_t { 0o100_000 }
public var S_IFSOCK: mode_t { 0o140_000 }

@discardableResult
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { 0 }

@discardableResult
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { 0 }

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 { 0 }

public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }

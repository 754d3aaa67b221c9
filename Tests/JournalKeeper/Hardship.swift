import CLibrary

/// Limits the size of files, like a full disk, or removes the limit.
func limitFiles(to bytes: rlim_t?) {
  signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit()
  unsafe getrlimit(numericCast(RLIMIT_FSIZE.rawValue), &limit)
  limit.rlim_cur = bytes ?? limit.rlim_max
  unsafe setrlimit(numericCast(RLIMIT_FSIZE.rawValue), &limit)
}

/// Becomes a user whom the permissions of files restrict.
func becomeNobody() {
  if geteuid() == 0, setgid(65534) != 0 || setuid(65534) != 0 { fatalError("It is still root.") }
}

#if os(Linux)
/// Mounts a small file system in memory, which only this thread sees.
///
/// - Returns: `false` without the permission to mount.
func mountDisk(_ options: String, on folder: String) -> Bool {
  typealias Unshare = @convention(c) (Int32) -> Int32
  typealias Mount =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt,
      UnsafePointer<CChar>?
    ) -> Int32
  guard let unshare = function("unshare", as: Unshare.self),
    let mount = unsafe function("mount", as: Mount.self)
  else { return false }
  let (newNamespace, recursive, isPrivate): (Int32, UInt, UInt) = (0x2_0000, 1 << 14, 1 << 18)
  return unsafe unshare(newNamespace) == 0
    && mount(nil, "/", nil, recursive | isPrivate, nil) == 0
    && mount("none", folder, "tmpfs", options == "ro" ? 1 : 0, options == "ro" ? nil : options)
      == 0
}

/// Mounts a folder on itself, which only this thread sees.
///
/// - Returns: `false` without the permission to mount.
func mountAgain(_ folder: String) -> Bool {
  typealias Unshare = @convention(c) (Int32) -> Int32
  typealias Mount =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt,
      UnsafePointer<CChar>?
    ) -> Int32
  guard let unshare = function("unshare", as: Unshare.self),
    let mount = unsafe function("mount", as: Mount.self)
  else { return false }
  let (newNamespace, recursive, isPrivate, bind): (Int32, UInt, UInt, UInt) = (
    0x2_0000, 1 << 14, 1 << 18, 1 << 12
  )
  return unsafe unshare(newNamespace) == 0
    && mount(nil, "/", nil, recursive | isPrivate, nil) == 0
    && mount(folder, folder, nil, bind, nil) == 0
}

/// Makes the file system read-only.
func sealDisk(on folder: String) -> Bool {
  typealias Mount =
    @convention(c) (
      UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt,
      UnsafePointer<CChar>?
    ) -> Int32
  guard let mount = unsafe function("mount", as: Mount.self) else { return false }
  let (readOnly, remount): (UInt, UInt) = (1, 32)
  return unsafe mount(nil, folder, nil, readOnly | remount, nil) == 0
}

/// Makes each later `fsync` and `fdatasync` fail with `EIO`.
///
/// - Returns: `false` without filters of system calls.
func breakDisk() -> Bool {
  #if arch(x86_64)
  let fsync: UInt64 = 74  // `fdatasync` is the next number
  #else
  let fsync: UInt64 = 82
  #endif
  // A program in classic BPF: load the number of the system call, return EIO if it is one of the two, and otherwise
  // allow the call. Each instruction has a constant, two jumps, and a code.
  var filter: [UInt64] = [
    0x20, 0x15 | 1 << 16 | fsync << 32, 0x15 | 1 << 24 | (fsync + 1) << 32,
    0x06 | (0x0005_0000 | UInt64(EIO)) << 32,
    0x06 | 0x7fff_0000 << 32,
  ]
  typealias Call = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
  guard let prctl = function("prctl", as: Call.self) else { return false }
  return unsafe filter.withUnsafeMutableBytes { filter in
    var program = [UInt(filter.count / 8), UInt(bitPattern: filter.baseAddress)]
    return unsafe program.withUnsafeMutableBytes { program in
      // No new rights, then the filter.
      prctl(38, 1, 0, 0, 0) == 0
        && prctl(22, 2, UInt(bitPattern: program.baseAddress), 0, 0) == 0
    }
  }
}

/// Returns a C function that the compiler does not import.
private func function<Function>(_ name: String, as type: Function.Type) -> Function? {
  unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
}
#else
func mountDisk(_: String, on _: String) -> Bool { false }

func mountAgain(_: String) -> Bool { false }

func sealDisk(on _: String) -> Bool { false }

func breakDisk() -> Bool { false }
#endif

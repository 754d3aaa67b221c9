import CLibrary

/// No file gets longer than so many bytes, as if the disk were full; `nil` for as long as it likes.
func limitFiles(to bytes: rlim_t?) {
  signal(SIGXFSZ, SIG_IGN)
  var limit = rlimit()
  unsafe getrlimit(numericCast(RLIMIT_FSIZE.rawValue), &limit)
  limit.rlim_cur = bytes ?? limit.rlim_max
  unsafe setrlimit(numericCast(RLIMIT_FSIZE.rawValue), &limit)
}

/// Becomes somebody to whom the rights of files say something.
func becomeNobody() {
  if geteuid() == 0, setgid(65534) != 0 || setuid(65534) != 0 { fatalError("It is still root.") }
}

#if os(Linux)
  /// Puts a small file system in memory on a folder, which this thread alone sees.
  ///
  /// - Returns: False where nobody may.
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

  /// From now on the system fails each `fsync`, as it does when a disk cannot take what was written.
  ///
  /// - Returns: False where that cannot be had.
  func breakDisk() -> Bool {
    #if arch(x86_64)
      let fsync: UInt64 = 74
    #else
      let fsync: UInt64 = 82
    #endif
    // What the system asks about each call: load its number; if it is that of `fsync`, go on with the
    // answer EIO, else skip it, to the answer that it is allowed. A constant stands above two jumps and a code.
    var filter: [UInt64] = [
      0x20, 0x15 | 1 << 24 | fsync << 32, 0x06 | (0x0005_0000 | UInt64(EIO)) << 32,
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

  /// One that the compiler does not import.
  private func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    unsafe dlsym(nil, name).map { unsafe unsafeBitCast($0, to: type) }
  }
#else
  func mountDisk(_: String, on _: String) -> Bool { false }

  func breakDisk() -> Bool { false }
#endif

#if os(Linux) || os(macOS)
internal import Foundation
internal import MiniRexEssentialsAdapters

extension Process {
  /// Starts the program, and returns its process identifier.
  ///
  /// It replaces `run`, which on Linux leaks memory for each process, passes on a socket that
  /// grandchildren inherit, reaps the program only after its children have ended, and starts it
  /// with the blocked signals of the thread. As with `run`, the program has a separate process
  /// group, and only its three descriptors.
  func spawn(output: Descriptor, errors: Descriptor) throws(POSIXError) -> pid_t {
    guard let executableURL, executableURL.isFileURL else { throw POSIXError(.ENOENT) }
    #if canImport(Darwin)
    var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
    var (actions, attributes) = unsafe (posix_spawn_file_actions_t(), posix_spawnattr_t())
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK
    #endif
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var unblocked = sigset_t()
    unsafe sigemptyset(&unblocked)
    unsafe posix_spawnattr_setsigmask(&attributes, &unblocked)
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let input {
      unsafe posix_spawn_file_actions_adddup2(&actions, input.fileDescriptor, STDIN_FILENO)
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, errors.number, STDERR_FILENO)
    if let folder = currentDirectoryURL?.path,
      folder != FileManager.default.currentDirectoryPath
    {
      let error = unsafe addFolder(folder, to: &actions)
      if error != 0 { throw POSIXError(errno: error, path: folder) }
    }
    #if !canImport(Darwin)
    // Without this call, the program inherits descriptors that other code did not make
    // close-on-exec.
    if let addCloseFrom = unsafe SystemCall.addCloseFrom {
      _ = unsafe addCloseFrom(&actions, STDERR_FILENO + 1)
    }
    #endif

    let environment = environment ?? ProcessInfo.processInfo.environment
    var child: pid_t = 0
    let error = unsafe withCStrings([executableURL.path] + (arguments ?? [])) { arguments in
      unsafe withCStrings(environment.map { "\($0)=\($1)" }) { environment in
        unsafe posix_spawn(
          &child, executableURL.path, &actions, &attributes, arguments, environment)
      }
    }
    if error != 0 { throw POSIXError(errno: error, path: executableURL.path) }
    // A writer must receive an error when the program no longer reads its input.
    if let pipe = standardInput as? Pipe { try? pipe.fileHandleForReading.close() }
    return child
  }

  /// `nil` if the program has no input.
  private var input: FileHandle? {
    let input = (standardInput as? Pipe)?.fileHandleForReading ?? standardInput as? FileHandle
    return input === FileHandle.nullDevice ? nil : input
  }
}

#if canImport(Darwin)
private func addFolder(
  _ folder: String, to actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 {
  unsafe posix_spawn_file_actions_addchdir_np(actions, folder)
}
#else
private func addFolder(
  _ folder: String, to actions: UnsafeMutablePointer<posix_spawn_file_actions_t>
) -> Int32 {
  unsafe SystemCall.addFolder.map { unsafe $0(actions, folder) } ?? ENOSYS
}
#endif

/// The array ends with the null pointer that the system expects.
private func withCStrings(
  _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
) -> Int32 {
  var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { while let copy = unsafe copies.popLast() { unsafe free(copy) } }
  return unsafe body(&copies)
}
#endif

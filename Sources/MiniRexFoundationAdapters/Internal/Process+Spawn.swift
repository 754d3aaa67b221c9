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
    let path = try executableURL.systemPath
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
    if let folder = currentDirectoryURL,
      folder.path != FileManager.default.currentDirectoryPath
    {
      let error = unsafe addFolder(try folder.systemPath, to: &actions)
      if error != 0 { throw POSIXError(errno: error, path: folder.name) }
    }
    #if !canImport(Darwin)
    // `Process` has no folder if its path is not UTF-8.
    if currentDirectoryURL == nil { throw POSIXError(.EINVAL) }
    // Without this call, the program inherits descriptors that other code did not make
    // close-on-exec.
    if let addCloseFrom = unsafe SystemCall.addCloseFrom {
      _ = unsafe addCloseFrom(&actions, STDERR_FILENO + 1)
    }
    #endif

    let environment = environment ?? ProcessInfo.processInfo.environment
    var child: pid_t = 0
    let words = [path] + (arguments ?? []).map { Array($0.utf8CString) }
    let variables = environment.map { Array("\($0)=\($1)".utf8CString) }
    let error = unsafe withCStrings(words) { words in
      unsafe withCStrings(variables) { variables in
        unsafe posix_spawn(&child, path, &actions, &attributes, words, variables)
      }
    }
    if error != 0 { throw POSIXError(errno: error, path: executableURL.name) }
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
  _ folder: [CChar], to actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>
) -> Int32 {
  unsafe posix_spawn_file_actions_addchdir_np(actions, folder)
}
#else
private func addFolder(
  _ folder: [CChar], to actions: UnsafeMutablePointer<posix_spawn_file_actions_t>
) -> Int32 {
  unsafe SystemCall.addFolder.map { unsafe $0(actions, folder) } ?? ENOSYS
}
#endif

/// The array ends with the null pointer that the system expects.
///
/// - Parameter strings: Strings with their final zeros.
/// - Returns: `EINVAL` if another zero would hide the rest of a string.
private func withCStrings(
  _ strings: [[CChar]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
) -> Int32 {
  if strings.contains(where: { $0.dropLast().contains(0) }) { return EINVAL }
  var copies = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { while let copy = unsafe copies.popLast() { unsafe free(copy) } }
  return unsafe body(&copies)
}
#endif

package import Foundation
import MiniRex
package import Testing

/// A child process that receives signals only until its exit.
///
/// It ends with this process, even after a crash or a kill.
package final class RunningProcess: Sendable {
  package let id: pid_t
  /// `nil` until the exit.
  private let result = Lock<Int32?>(nil)

  /// - Parameter streams: The standard input, output, and error, which are closed in this process.
  package init(_ arguments: [String], streams: [FileHandle]) throws {
    let reaper = try Reaper.shared.get()
    id = try spawn(arguments, streams)
    reaper.add(id)
    for stream in streams { try stream.close() }
    Thread.detachNewThread { self.wait() }
  }

  package func send(_ signal: Int32) {
    result.withLock { if $0 == nil { kill(id, signal) } }
  }

  /// Waits for the exit status, which is the negative number of the signal after a kill.
  ///
  /// Records an issue at the call and returns `nil` if the process does not exit.
  package func status(
    patience: Int = patience, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> Int32? {
    await until(patience: patience, sourceLocation: sourceLocation) {
      result.withLock { $0 != nil }
    }
    return result.withLock { $0 }
  }

  private func wait() {
    // The process ID stays reserved until the second wait, so a signal cannot reach another process.
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    try? Reaper.shared.get().remove(id)
    result.withLock { result in
      var status: Int32 = 0
      unsafe waitpid(id, &status, 0)
      result = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }
  }
}

/// A shell that kills the children of this process after its end, which closes the shell's input.
///
/// Children that notice the end have a second to end their own children.
private struct Reaper: Sendable {
  static let shared = Result { try Reaper() }
  private static let script = #"""
    trap '' HUP INT TERM
    live=' '
    while read -r sign id; do
      case $sign in
      +) live="$live$id " ;;
      -) live="${live%% $id *} ${live#* $id }" ;;
      esac
    done
    sleep 1
    kill -9 $live
    """#
  private let input: FileHandle

  private init() throws {
    let pipe = Pipe()
    input = pipe.fileHandleForWriting
    _ = fcntl(input.fileDescriptor, F_SETFD, FD_CLOEXEC)
    guard let nothing = FileHandle(forWritingAtPath: "/dev/null") else { throw POSIXError(.ENOENT) }
    _ = try spawn(["/bin/sh", "-c", Reaper.script], [pipe.fileHandleForReading, nothing, nothing])
    try pipe.fileHandleForReading.close()
  }

  func add(_ id: pid_t) { try? input.write(contentsOf: Data("+ \(id)\n".utf8)) }

  /// Must precede the end of the reservation of the process ID.
  func remove(_ id: pid_t) { try? input.write(contentsOf: Data("- \(id)\n".utf8)) }
}

/// Starts a process with the streams as its standard input, output, and error.
private func spawn(_ arguments: [String], _ streams: [FileHandle]) throws -> pid_t {
  #if canImport(Darwin)
  var actions: posix_spawn_file_actions_t?
  var attributes: posix_spawnattr_t?
  #else
  var actions = unsafe posix_spawn_file_actions_t()
  var attributes = posix_spawnattr_t()
  #endif
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe posix_spawnattr_destroy(&attributes) }
  // A child inherits ignored signals.
  var signals = sigset_t()
  unsafe sigemptyset(&signals)
  unsafe sigaddset(&signals, SIGPIPE)
  unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
  var flags = Int16(POSIX_SPAWN_SETSIGDEF)
  #if canImport(Darwin)
  flags |= Int16(POSIX_SPAWN_CLOEXEC_DEFAULT)
  #endif
  unsafe posix_spawnattr_setflags(&attributes, flags)
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  for (number, stream) in streams.enumerated() {
    unsafe posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
  }
  #if !canImport(Darwin)
  // Close the descriptors of other tests in the child. Swift does not import this function.
  typealias AddNumber =
    @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
  if let call = unsafe dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") {
    _ = unsafe unsafeBitCast(call, to: AddNumber.self)(&actions, 3)
  }
  #endif
  var words = unsafe arguments.map { unsafe strdup($0) }
  defer { while let word = unsafe words.popLast() { unsafe free(word) } }
  var id = pid_t()
  let error = unsafe posix_spawn(
    &id, arguments[0], &actions, &attributes, words + [nil], environ)
  if error != 0 { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
  return id
}

package import Foundation
import MiniRex
package import Testing

/// A child process that receives signals only until its exit.
package final class RunningProcess: Sendable {
  private let id: pid_t
  /// `nil` until the exit.
  private let result = Lock<Int32?>(nil)

  /// - Parameter streams: The standard input, output, and error, which are closed in this process.
  package init(_ arguments: [String], streams: [FileHandle]) throws {
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
    for stream in streams { try stream.close() }

    self.id = id
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
    result.withLock { result in
      var status: Int32 = 0
      unsafe waitpid(id, &status, 0)
      result = status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }
  }
}

package import Foundation
import Synchronization

/// A process that can be waited for and signalled, but not after its end.
package final class RunningProcess: Sendable {
  /// Yields the exit status, or a signal as a negative number.
  package let statuses: AsyncStream<Int32>

  private let id: pid_t
  private let isOver = Mutex(false)

  /// - Parameter streams: Become its standard input, output and error; closed here.
  package init(_ arguments: [String], streams: [FileHandle]) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in streams.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
    }
    var words = unsafe arguments.map { unsafe strdup($0) }
    defer { while let word = unsafe words.popLast() { unsafe free(word) } }
    var id = pid_t()
    let error = unsafe posix_spawn(&id, arguments[0], &actions, nil, words + [nil], environ)
    if error != 0 { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EINVAL) }
    for stream in streams { try stream.close() }

    self.id = id
    let (statuses, continuation) = AsyncStream.makeStream(of: Int32.self)
    self.statuses = statuses
    Thread.detachNewThread { [self] in
      continuation.yield(wait())
      continuation.finish()
    }
  }

  package func send(_ signal: Int32) {
    isOver.withLock { if !$0 { kill(id, signal) } }
  }

  private func wait() -> Int32 {
    // It keeps its number until the second wait, so that nobody else gets the signal.
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return isOver.withLock { isOver in
      isOver = true
      var status: Int32 = 0
      unsafe waitpid(id, &status, 0)
      return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }
  }
}

import Glibc
import Synchronization

/// Lines on standard output, and on standard error the status and what is wrong.
///
/// On a terminal the status stays in its place below the lines; elsewhere each one is a line.
final class Screen: Sendable {
  private let lines = Mutex<[UInt8]>([])
  private let status = Mutex("")
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let isFollowing: Bool

  init(isFollowing: Bool) {
    self.isFollowing = isFollowing
  }

  /// Keeps the line for the next ``flush()``.
  func print(_ line: Line) {
    let isFull = lines.withLock { lines in
      if line.bytes.replacementCount == 0 {
        lines += line.bytes
      } else {
        lines += String(decoding: line.bytes, as: UTF8.self).utf8
      }
      lines.append(UInt8(ascii: "\n"))
      return lines.count > 1 << 16
    }
    if isFull { flush() }
  }

  func flush() {
    lines.withLock { lines in
      if lines.isEmpty { return }
      aboveStatus { write(lines, to: STDOUT_FILENO) }
      lines.removeAll(keepingCapacity: true)
    }
  }

  func show(_ text: String) {
    guard isTerminal || isFollowing else { return }
    if isTerminal { aboveStatus { status.withLock { $0 = text } } } else { report(text) }
  }

  func report(_ text: String) {
    aboveStatus { write(Array("\(text)\n".utf8), to: STDERR_FILENO) }
  }

  /// Leaves the status where it is, and writes the last words below it.
  func finish(_ summary: String) {
    flush()
    if !status.withLock({ $0.isEmpty }) { write([UInt8(ascii: "\n")], to: STDERR_FILENO) }
    write(Array(summary.utf8), to: STDOUT_FILENO)
  }

  /// Wipes the status off the terminal, and writes it again when `body` has written.
  private func aboveStatus(_ body: () -> Void) {
    if !status.withLock({ $0.isEmpty }) { write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO) }
    body()
    write(Array(status.withLock { $0 }.utf8), to: STDERR_FILENO)
  }
}

/// Writes all of it, or ends the program if standard output takes no more.
private func write(_ bytes: [UInt8], to descriptor: Int32) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes {
      unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
    }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      unsafe Glibc.poll(&ready, 1, -1)
    } else if errno != EINTR {
      if descriptor == STDERR_FILENO { return }
      let error = SystemError()
      if error.code != EPIPE {
        write(Array("minirex-tail: standard output: \(error)\n".utf8), to: STDERR_FILENO)
      }
      exit(1)
    }
  }
}

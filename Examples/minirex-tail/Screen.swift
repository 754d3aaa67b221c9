import Foundation
import Synchronization

/// Writes lines to standard output, and the status and what is wrong to standard error.
///
/// On a terminal the status stays in its place below the lines; elsewhere each one is a line.
final class Screen: Sendable {
  private let lines = Mutex<[UInt8]>([])
  /// What stands below the lines; empty if it is not a terminal.
  private let status = Mutex("")
  private let isTerminal = isatty(STDERR_FILENO) == 1

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
      aboveStatus { write(lines) }
      lines.removeAll(keepingCapacity: true)
    }
  }

  func show(_ text: String) {
    if isTerminal { aboveStatus { status.withLock { $0 = text } } } else { report(text) }
  }

  func report(_ text: String) {
    aboveStatus { complain("\(text)\n") }
  }

  /// Leaves the status where it is, and writes the last words below it.
  func finish(_ summary: String) {
    flush()
    if status.withLock({ !$0.isEmpty }) { complain("\n") }
    write(Array(summary.utf8))
  }

  /// Wipes the status off the terminal, and puts it back when `body` has written.
  private func aboveStatus(_ body: () -> Void) {
    if status.withLock({ !$0.isEmpty }) { complain("\r\u{1B}[K") }
    body()
    complain(status.withLock { $0 })
  }

  private func write(_ bytes: [UInt8]) {
    do {
      try FileHandle.standardOutput.write(contentsOf: bytes)
    } catch {
      complain("minirex-tail: standard output: \(SystemError())\n")
      exit(1)
    }
  }

  private func complain(_ text: String) {
    // Where the complaint about this would go is what does not work.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}

import Foundation

private let eraseLine = "\u{1B}[K"

/// Erases the progress bar in the line that is about to be written.
let lineStart = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? eraseLine : ""

/// Shows a progress bar on standard error if it is a terminal.
func showProgress(_ fraction: Double?) {
  if isatty(STDERR_FILENO) == 0 { return }
  guard let fraction, fraction < 1 else { return complain(eraseLine) }
  // The next line overwrites the progress bar.
  complain("\(Int(fraction * 100)) % \(String(repeating: "#", count: Int(fraction * 40)))\r")
}

/// Writes to standard error.
func complain(_ text: String) {
  // A failure cannot be reported, because standard error itself has failed.
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}

/// Writes the output buffer, so that lines appear immediately.
func flush() {
  if fflush(nil) == 0 { return }
  complain("minirex-tail: cannot write\n")
  exit(1)
}

/// Returns `true` if the reader of a descriptor does not keep up.
func isFull(_ descriptor: Int32) -> Bool {
  var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
  return unsafe poll(&room, 1, 0) == 0
}

import Foundation

private let eraseLine = "\u{1B}[K"

/// Wipes what the progress bar has left where the line is written.
let lineStart = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? eraseLine : ""

/// Shows on standard error, if that is a terminal, how far a file is read.
func showProgress(_ fraction: Double?) {
  if isatty(STDERR_FILENO) == 0 { return }
  guard let fraction, fraction < 1 else { return complain(eraseLine) }
  // The next line is written over it.
  complain("\(Int(fraction * 100)) % \(String(repeating: "#", count: Int(fraction * 40)))\r")
}

/// Writes to standard error.
func complain(_ text: String) {
  // Where the complaint about this would go is what does not work.
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}

/// Writes out what was printed, so that it is seen at once.
func flush() {
  if fflush(nil) == 0 { return }
  complain("minirex-tail: cannot write\n")
  exit(1)
}

/// True if whoever reads what this writes does not.
func isFull(_ descriptor: Int32) -> Bool {
  var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
  return unsafe poll(&room, 1, 0) == 0
}

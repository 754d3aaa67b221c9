import Foundation
import MiniRex
import MiniRexFoundationAdapters

private let eraseLine = "\u{1B}[K"

/// Wipes what the progress bar has left where the line is written.
let lineStart = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1 ? eraseLine : ""

/// What to write to standard error, if that is a terminal, to show how far a file is read.
func progressBar<Value>(
  of reading: ProgressiveTask<TransferProgress, Value, POSIXError>
) -> Broadcaster<String> {
  if isatty(STDERR_FILENO) == 0 { return .never }
  return reading.broadcaster.map { update in
    guard case .progress(let progress) = update, let fraction = progress.fraction, fraction < 1
    else { return eraseLine }
    // The next line is written over it.
    return "\(Int(fraction * 100)) % \(String(repeating: "#", count: Int(fraction * 40)))\r"
  }.removeDuplicates()
}

/// Writes to standard error.
func complain(_ text: String) {
  // Where the complaint about this would go is what does not work.
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}

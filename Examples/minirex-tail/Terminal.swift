import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// Draws on the terminal how far a file is read; nothing if standard error is not one.
func progressBar<Value>(
  of reading: ProgressiveTask<TransferProgress, Value, POSIXError>
) -> Subscription {
  if isatty(STDERR_FILENO) == 0 { return .ended }
  return reading.broadcaster.map { update in
    guard case .progress(let progress) = update, let fraction = progress.fraction, fraction < 1
    else { return eraseLine }
    let bar = String(repeating: "#", count: Int(fraction * 40))
    // What is written next goes over it.
    return "[\(bar.padding(toLength: 40, withPad: ".", startingAt: 0))] \(Int(fraction * 100)) %\r"
  }.removeDuplicates().subscribe { complain($0) }
}

let eraseLine = "\u{1B}[K"

/// Writes to standard error.
func complain(_ text: String) {
  // Where the complaint about this would go is what does not work.
  try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
}

/// Writes what has been printed.
func flushOutput() {
  if fflush(nil) == 0 { return }
  complain("minirex-tail: standard output: \(POSIXError.last.reason)\n")
  exit(1)
}

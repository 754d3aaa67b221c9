public import MiniRex

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension URL {
  /// Creates a task that reads the file into memory.
  ///
  /// ```swift
  /// let added = log.readTask(from: sizeBefore)
  /// ```
  ///
  /// The first subscriber starts the read on a separate thread, where callbacks run, and all
  /// subscribers share it. Canceling the last subscription stops it. Progress counts the bytes of
  /// this run. The total is the size of the file after `offset` when it is opened, and unknown for
  /// a pipe or a device. The task fails if the URL is not a file URL, if its path contains a zero
  /// byte, or if the system cannot open or read the file.
  ///
  /// - Parameters:
  ///   - offset: The number of bytes to skip. Beyond the end, the result is empty. A pipe has no
  ///     offset, and fails.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func readTask(
    from offset: Int = 0, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Data, POSIXError> {
    readTask(from: offset, into: Data(), { $0.append($1) }, fileID: fileID, line: line)
  }

  /// Creates a task that reads the file in pieces, without keeping it in memory.
  ///
  /// ```swift
  /// let lineCount = log.readTask(into: 0) { count, bytes in
  ///   count += bytes.count { $0 == UInt8(ascii: "\n") }
  /// }
  /// ```
  ///
  /// At most one piece is in memory. Each piece is processed before the next is read, and then
  /// reported as progress. A subscriber with `BufferingPolicy.suspending(n)` stops the reading while
  /// `n` reports are in flight to it. See `readTask()` for the rest.
  ///
  /// - Parameters:
  ///   - offset: The number of bytes to skip.
  ///   - initial: The initial result of each run.
  ///   - add: A closure that receives the result so far and the next piece, once per run for any
  ///     number of subscribers. A piece has 262,144 bytes, or fewer at the end and from a pipe.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func readTask<Value: Sendable>(
    from offset: Int = 0, into initial: Value,
    _ add: @escaping @Sendable (_ value: inout Value, _ piece: Data) -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Value, POSIXError> {
    if offset < 0 { misuse("'readTask' requires an offset of 0 or more, not \(offset).") }
    return ProgressiveTask<TransferProgress, Value, POSIXError>(
      watchedBy: .ofSource("reading of \(name)", fileID, line),
      sharing: SharedWork { [self] inlet in
        do throws(POSIXError) {
          let interruption = try InterruptPipe()
          let valve = SendValve.ofConnection()
          let workHandle = WorkHandle(waitingAt: valve)
          try detachThread {
            inlet.finish(
              .finished(
                Result { () throws(POSIXError) in
                  var value = initial
                  var progress = TransferProgress(done: 0, expected: nil)
                  try read(from: offset, until: interruption, valve) { expected in
                    progress.expected = expected
                    inlet.report(.progress(progress))
                  } receive: { piece in
                    add(&value, piece)
                    progress.done += piece.count
                    inlet.report(.progress(progress))
                  }
                  return value
                }))
            workHandle.finish()
          }
          return workHandle.subscription { interruption.interrupt() }
        } catch {
          inlet.finish(.finished(.failure(error)))
          return .ended
        }
      })
  }
}

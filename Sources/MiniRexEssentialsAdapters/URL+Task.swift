public import MiniRex

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension URL {
  /// Reads a file into memory.
  ///
  /// ```swift
  /// let added = log.readTask(from: sizeBefore)
  /// ```
  ///
  /// It is read when somebody subscribes, once for all subscribers, on a thread of its own, which
  /// is also where updates come; when the last subscriber leaves, reading stops. Progress counts
  /// the bytes of this run; how many are expected is what the file has behind `offset` when it is
  /// opened, and not known of a pipe or a device. The task fails if the URL is not that of a file,
  /// or the system refuses to open or read it.
  ///
  /// - Parameters:
  ///   - offset: How many bytes of the file are left out at its beginning; behind its end there is
  ///     nothing to read. A pipe has no beginning to count from, and fails.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func readTask(
    from offset: Int = 0, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Data, POSIXError> {
    readTask(from: offset, into: Data(), { $0.append($1) }, fileID: fileID, line: line)
  }

  /// Reads a file piece by piece, without keeping it in memory.
  ///
  /// ```swift
  /// let lineCount = log.readTask(into: 0) { count, bytes in
  ///   count += bytes.count { $0 == UInt8(ascii: "\n") }
  /// }
  /// ```
  ///
  /// Each piece has been passed on before the next is read, so that no more than one is in memory,
  /// and is told as progress after that. Otherwise it is like `readTask()`.
  ///
  /// - Parameters:
  ///   - offset: How many bytes of the file are left out at its beginning.
  ///   - initial: Where each run begins.
  ///   - add: Called with the result so far and the next piece, once for each run however many
  ///     subscribers it has. A piece has 262,144 bytes, fewer at the end or from a pipe.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func readTask<Value: Sendable>(
    from offset: Int = 0, into initial: Value,
    _ add: @escaping @Sendable (_ value: inout Value, _ piece: Data) -> Void,
    fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Value, POSIXError> {
    if offset < 0 { misuse("'readTask' takes an offset that is not negative, not \(offset).") }
    return ProgressiveTask<TransferProgress, Value, POSIXError>(
      watchedBy: .ofSource("reading of \(path(percentEncoded: false))", fileID, line),
      sharing: SharedWork { [self] inlet in
        do throws(POSIXError) {
          let interruption = try Interruption()
          let errand = Errand()
          try detachThread {
            inlet.finish(
              .finished(
                Result { () throws(POSIXError) in
                  var value = initial
                  var progress = TransferProgress(done: 0, expected: nil)
                  try read(from: offset, until: interruption) { expected in
                    progress.expected = expected
                    inlet.report(.progress(progress))
                  } receive: { piece in
                    add(&value, piece)
                    progress.done += piece.count
                    inlet.report(.progress(progress))
                  }
                  return value
                }))
            errand.comeBack()
          }
          return errand.subscription { interruption.interrupt() }
        } catch {
          inlet.finish(.finished(.failure(error)))
          return .ended
        }
      })
  }
}

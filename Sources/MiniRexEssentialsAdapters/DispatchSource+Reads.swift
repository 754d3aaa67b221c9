public import Dispatch
public import MiniRex
internal import MiniRexDispatchAdapters

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DispatchSource {
  /// Creates a broadcaster of the bytes read from a file descriptor.
  ///
  /// ```swift
  /// let subscription = DispatchSource.reads(from: descriptor).subscribe {
  ///   switch $0 {
  ///   case .success(let data): parse(data)
  ///   case .failure(let error): print(error)
  ///   }
  /// }
  /// ```
  ///
  /// It reads while it has a subscriber, on a separate thread, and emits up to 64 KiB at a time.
  /// All subscribers receive the same bytes. A slow callback slows the reading down, so nothing is
  /// buffered. A subscriber with `BufferingPolicy.suspending(n)` stops the reading while `n` pieces
  /// are in flight to it, and the writer blocks when the pipe is full. The publisher finishes at
  /// the end of the file. An error, such as a closed descriptor, is the last update.
  ///
  /// Nothing is read after the last subscription is canceled, so later bytes stay for the next
  /// reader. Several publishers may read one descriptor: each byte goes to one of them.
  ///
  /// The first subscriber duplicates the descriptor, and the duplicate is closed after the last
  /// one. You may therefore close yours at any time, and its number can be reused safely. The
  /// blocking mode of your descriptor does not change.
  ///
  /// - Parameters:
  ///   - descriptor: The file descriptor.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public static func reads(
    from descriptor: Int32, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Result<Data, POSIXError>> {
    SharedAdapterSource { connection in
      do throws(POSIXError) {
        let reader = try DescriptorReader(sharing: descriptor)
        let interruption = try InterruptPipe()
        let valve = SendValve.ofConnection()
        let workHandle = WorkHandle(waitingAt: valve)
        try detachThread {
          read(from: reader, until: interruption, valve, connection)
          workHandle.finish()
        }
        return workHandle.subscription { interruption.interrupt() }
      } catch {
        return connection.refuse(with: .failure(error))
      }
    }.publisher(watchedBy: .ofSource("reads from \(descriptor)", fileID, line))
  }
}

private func read(
  from reader: DescriptorReader, until interruption: InterruptPipe, _ valve: SendValve,
  _ connection: Connection<Result<Data, POSIXError>>
) {
  do throws(POSIXError) {
    var hasEnded = false
    while !hasEnded, interruption.wait(for: [reader.descriptor]) != nil {
      // Taken inside the valve, so that a stalled reader holds no byte.
      _ = try valve.pass { () throws(POSIXError) in
        guard let piece = try interruption.take(from: reader, upTo: 65_536) else { return }
        if piece.isEmpty { hasEnded = true } else { connection.broadcast(.success(piece)) }
      }
    }
    connection.end()
  } catch {
    connection.end(with: .failure(error))
  }
}

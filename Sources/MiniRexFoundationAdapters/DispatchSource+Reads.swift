public import Dispatch
public import Foundation
public import MiniRex

extension DispatchSource {
  /// Calls with the bytes that can be read from a file descriptor, as they come.
  ///
  /// ```swift
  /// let subscription = DispatchSource.reads(from: STDIN_FILENO).subscribe {
  ///   switch $0 {
  ///   case .success(let data): parse(data)
  ///   case .failure(let error): print(error)
  ///   }
  /// }
  /// ```
  ///
  /// It reads while somebody is subscribed, on a thread of its own, where it calls with up to 64 KiB at
  /// a time. All subscribers get the same bytes; a slow one slows the reading down, so that nothing
  /// piles up. At the end of the file the subscriptions end. What goes wrong, because the descriptor is
  /// closed, for example, is the last update before that.
  ///
  /// The first subscriber makes a duplicate of the descriptor, which is closed after the last has left.
  /// So you may close yours at any time; nobody then reads from what gets its number next.
  ///
  /// - Parameters:
  ///   - descriptor: What to read from.
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public static func reads(
    from descriptor: Int32, fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Result<Data, POSIXError>> {
    LazySource { connection in
      do throws(POSIXError) {
        return try startReading(from: descriptor, connection)
      } catch {
        return connection.refuse(with: .failure(error))
      }
    }.publisher(watchedBy: .ofSource("reads from \(descriptor)", fileID, line))
  }
}

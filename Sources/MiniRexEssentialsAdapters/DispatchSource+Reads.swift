public import Dispatch
public import MiniRex
internal import MiniRexDispatchAdapters

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DispatchSource {
  /// Calls with the bytes that can be read from a file descriptor, as they come.
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
  /// It reads while somebody is subscribed, on a thread of its own, where it calls with up to 64
  /// KiB at a time. All subscribers get the same bytes; one that is slow slows the reading down, so
  /// that nothing piles up. At the end of the file the subscriptions end. What goes wrong, because
  /// the descriptor is closed, for example, is the last update before that.
  ///
  /// Nothing is taken from the descriptor after the last subscription has ended, so what comes then
  /// is left to whoever reads next. Several may read one descriptor: each byte goes to one of them.
  ///
  /// The first subscriber makes a duplicate of the descriptor, which is closed after the last has
  /// left. So you may close yours at any time; nobody then reads from what gets its number next.
  /// Whether yours waits when you read it yourself stays as it is.
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
        let reader = try DescriptorReader(sharing: descriptor)
        let interruption = try Interruption()
        try detachThread { read(from: reader, until: interruption, connection) }
        return Subscription { interruption.interrupt() }
      } catch {
        return connection.refuse(with: .failure(error))
      }
    }.publisher(watchedBy: .ofSource("reads from \(descriptor)", fileID, line))
  }
}

private func read(
  from reader: DescriptorReader, until interruption: Interruption,
  _ connection: Connection<Result<Data, POSIXError>>
) {
  do throws(POSIXError) {
    while interruption.wait(for: [reader.descriptor]) != nil {
      guard let piece = try interruption.take(from: reader, upTo: 65_536) else { continue }
      if piece.isEmpty { break }
      connection.broadcast(.success(piece))
    }
    connection.end()
  } catch {
    connection.end(with: .failure(error))
  }
}

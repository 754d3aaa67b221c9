internal import CLibrary
public import MiniRex
internal import MiniRexDispatchAdapters

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension URL {
  /// Calls with each change of the file, or in the folder.
  ///
  /// ```swift
  /// let subscription = folder.changes().subscribe { change in
  ///   if case .success(let change) = change { reload(change.name) }
  /// }
  /// ```
  ///
  /// Linux says by name what has changed in a folder, but nothing of the folders in it; Apple
  /// platforms only that the list of the folder has. Both tell what has happened, not what is there
  /// now, and may tell several changes of one kind as one: use it as a hint to look.
  ///
  /// What is watched is the thing that has that path when the first subscriber comes. When it is
  /// gone, or cannot be watched, why is the last update, and the subscriptions end; subscribe again
  /// for what has the path then. A URL that is not that of a file fails in the same way.
  ///
  /// On Linux the whole process shares one descriptor and the queue that it calls on, so a slow
  /// callback holds up all of them; each watched thing is one of the system's watches for as long
  /// as somebody is subscribed. On Apple platforms it is one open file, with a queue of its own.
  ///
  /// - Parameters:
  ///   - fileID: Where it is written, for an instrument.
  ///   - line: Where it is written, for an instrument.
  public func changes(
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Result<FileChange, POSIXError>> {
    let path = path(percentEncoded: false)
    return LazySource { [self] connection in
      do throws(POSIXError) {
        guard isFileURL else { throw POSIXError(.EINVAL, path: absoluteString) }
        return try watch(path, connection)
      } catch {
        return connection.refuse(with: .failure(error))
      }
    }.publisher(watchedBy: .ofSource("changes of \(path)", fileID, line))
  }
}

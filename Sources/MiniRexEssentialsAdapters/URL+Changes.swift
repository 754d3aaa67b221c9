internal import CLibrary
public import MiniRex
internal import MiniRexDispatchAdapters

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension URL {
  /// Creates a broadcaster of the changes of the file, or in the folder.
  ///
  /// ```swift
  /// let subscription = folder.changes().subscribe { change in
  ///   if case .success(let change) = change { reload(change.name) }
  /// }
  /// ```
  ///
  /// Linux reports the name of each changed item of a folder, and no changes of its subfolders.
  /// Apple platforms only report that the list of the folder has changed. Both report past events,
  /// not the present state, and may combine several changes of one kind. Use a change as a hint to
  /// read again.
  ///
  /// The watched item is the item at this path when the first subscriber joins. If it is removed or
  /// cannot be watched, the reason is the last update, and the publisher finishes, even if another
  /// process still holds the file open. On Linux, a folder that is held open, for instance as a
  /// working directory, counts as removed when it is closed. A moved item, and a file with another
  /// hard link, still exist, so their changes continue. Subscribe again for a new item at the path.
  /// A URL that is not a file URL, or whose path contains a zero byte, fails in the same way.
  ///
  /// On Linux, the process uses one descriptor and one queue for all watches, so a slow callback
  /// delays all of them. Each watched item uses one watch of the system while it has a subscriber,
  /// and each publisher of a file a descriptor, so its volume is in use. On Apple platforms, each
  /// publisher uses an open file and a separate queue.
  ///
  /// - Parameters:
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func changes(
    fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Result<FileChange, POSIXError>> {
    SharedAdapterSource { [self] connection in
      do throws(POSIXError) {
        return try watch(systemPath, connection)
      } catch {
        return connection.refuse(with: .failure(error))
      }
    }.publisher(watchedBy: .ofSource("changes of \(name)", fileID, line))
  }
}

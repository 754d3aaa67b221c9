// A watched file or folder on Linux.
#if os(Linux) || os(Android)
internal import CLibrary
internal import FoundationEssentials
internal import MiniRex
internal import MiniRexDispatchAdapters

/// The item at a path when a watch starts.
struct WatchedItem {
  /// A descriptor that cannot read.
  private let item: Descriptor
  private let path: [CChar]
  /// A file that has a name, or `nil` for a folder and a file without a name.
  ///
  /// A folder is not held, because the system would then not report its removal.
  let file: Descriptor?

  init(_ path: [CChar]) throws(POSIXError) {
    self.path = path
    item = try Descriptor(opening: path, SystemCall.withoutReading)
    file = item.status.st_mode & S_IFMT != S_IFDIR && item.hasName ? item : nil
  }

  /// Returns the number of the watch, or a negative number with the reason in `errno`.
  func watch(in queue: Int32, _ events: UInt32) -> Int32 {
    // The path could name another item by now. Some processes cannot use the path of a descriptor.
    let number = unsafe inotify_add_watch(queue, Descriptor.pathOfOpenFile(item.number), events)
    return number < 0 ? unsafe inotify_add_watch(queue, path, events) : number
  }
}

/// A subscriber of an item's changes.
final class Watcher: Sendable {
  typealias Connection = MiniRexDispatchAdapters.Connection<Result<FileChange, POSIXError>>

  let connection: Connection
  private let file: Descriptor?

  init(_ connection: Connection, of file: Descriptor?) {
    self.connection = connection
    self.file = file
  }

  /// A Boolean value that indicates whether the file has lost its last name.
  var hasLostItem: Bool { file?.hasName == false }

  func finish() {
    connection.broadcast(.failure(POSIXError(.ENOENT)))
    connection.end()
  }
}

extension Descriptor {
  fileprivate var hasName: Bool { status.st_nlink > 0 }

  fileprivate var status: stat {
    var status = stat()
    unsafe fstat(number, &status)
    return status
  }
}
#endif

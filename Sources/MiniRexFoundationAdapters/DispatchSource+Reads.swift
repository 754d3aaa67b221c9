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
  /// It reads while somebody is subscribed, all subscribers get the same bytes, and it calls on a queue
  /// of its own, up to 64 KiB at a time: who is slow slows the reading down, so that nothing piles up.
  /// At the end of the file the subscriptions end. What goes wrong, because the descriptor is closed,
  /// for example, is the last update before that.
  ///
  /// The first subscriber makes a duplicate of the descriptor, which is closed after the last has left.
  /// So you may close yours at any time; nobody then reads from what gets its number next.
  public static func reads(
    from descriptor: Int32
  ) -> Broadcaster<Result<Data, POSIXError>> {
    LazySource { connection in
      let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
      if duplicate < 0 || isFolder(duplicate) {
        connection.broadcast(.failure(duplicate < 0 ? .last : POSIXError(.EISDIR)))
        close(duplicate)
        return connection.refuse()
      }
      return readable(duplicate, label: "MiniRex reads") { readAll(from: duplicate, connection) }
    }.publisher
  }
}

/// Reads what there is. Not less: on Linux it is said only once that the other end is closed, also when
/// there are still bytes before that.
private func readAll(
  from descriptor: Int32, _ connection: Connection<Result<Data, POSIXError>>
) {
  while !connection.isOver, wouldNotWait(descriptor) {
    var data = Data(count: 1 << 16)
    let count = unsafe data.withUnsafeMutableBytes { buffer in
      unsafe read(descriptor, buffer.baseAddress, buffer.count)
    }
    switch count {
    case 1...: connection.broadcast(.success(data.prefix(count)))
    case 0: connection.end()
    default:
      if errno == EAGAIN || errno == EINTR { continue }
      connection.broadcast(.failure(.last))
      connection.end()
    }
  }
}

private func wouldNotWait(_ descriptor: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return unsafe poll(&request, 1, 0) > 0
}

/// Nobody would ever be told that a folder can be read.
private func isFolder(_ descriptor: Int32) -> Bool {
  var status = stat()
  return unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
}

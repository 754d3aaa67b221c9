internal import Foundation
internal import MiniRex

/// Reads a duplicate of the descriptor on a thread of its own, until the token ends.
///
/// Not with Dispatch's source for reads: on Linux it says only once that the other end is closed, also
/// when there are bytes before that, and it does not get over duplicates that come and go.
func startReading(
  from descriptor: Int32, _ connection: Connection<Result<Data, POSIXError>>
) throws(POSIXError) -> Subscription {
  let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
  if duplicate < 0 { throw .last }
  var ends: [Int32] = [0, 0]
  if unsafe pipe(&ends) != 0 {
    let error = POSIXError.last
    close(duplicate)
    throw error
  }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  let (waking, waker) = (ends[0], ends[1])
  Thread.detachNewThread {
    while waitForBytes(duplicate, unless: waking), read(duplicate, connection) {}
    close(duplicate)
    close(waking)
  }
  // The other end hears of it.
  return Subscription { close(waker) }
}

/// False if the other end of the pipe is closed: nobody is subscribed any more.
private func waitForBytes(_ descriptor: Int32, unless waking: Int32) -> Bool {
  var requests = [
    pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    pollfd(fd: waking, events: Int16(POLLIN), revents: 0),
  ]
  while unsafe poll(&requests, 2, -1) < 0, errno == EINTR {}
  return requests[1].revents == 0
}

/// False at the end of the file, or when something goes wrong.
private func read(
  _ descriptor: Int32, _ connection: Connection<Result<Data, POSIXError>>
) -> Bool {
  var data = Data(count: 1 << 16)
  let count = unsafe data.withUnsafeMutableBytes { buffer in
    unsafe read(descriptor, buffer.baseAddress, buffer.count)
  }
  if count > 0 {
    connection.broadcast(.success(data.prefix(count)))
    return true
  }
  if count < 0, errno == EAGAIN || errno == EINTR { return true }
  if count < 0 { connection.broadcast(.failure(.last)) }
  connection.end()
  return false
}

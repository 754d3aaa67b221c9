internal import CLibrary
internal import MiniRex

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// What ends the waiting for descriptors, from any thread, and for good.
package final class Interruption: Sendable {
  private let waking: Descriptor
  /// The other end of it, until it is interrupted: what closes it wakes whoever waits.
  private let writing: Lock<Descriptor?>

  package init() throws(POSIXError) {
    let ends = try PipeEnds()
    waking = ends.reading
    writing = Lock(ends.writing)
  }

  /// When this returns, nothing is taken any more.
  package func interrupt() {
    // Closed when this returns, after the lock.
    _ = writing.withLock { $0.take() }
  }

  /// Waits until something can be read, or is at its end.
  ///
  /// - Returns: Of each whether it can; `nil` once it is interrupted.
  package func wait(for descriptors: [Descriptor]) -> [Bool]? {
    var requests = (descriptors + [waking]).map {
      pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
    }
    while unsafe poll(&requests, nfds_t(requests.count), -1) < 0, errno == EINTR {}
    let isReady = requests.map { $0.revents != 0 }
    return isReady.last == true ? nil : isReady.dropLast()
  }

  /// Takes what is there; `nil` if that is nothing now, or if it is interrupted.
  ///
  /// It does so under the lock, so that what comes after the interruption is left to whoever reads
  /// next.
  func take(from reader: DescriptorReader, upTo limit: Int) throws(POSIXError) -> Data? {
    try writing.withLock { writing throws(POSIXError) in
      writing == nil ? nil : try reader.read(upTo: limit)
    }
  }
}
